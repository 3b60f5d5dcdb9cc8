package profile

import (
	"context"

	"sluice/internal/wire"
)

// Login signs in at a profile, "" for the current one. The keychain is asked before the password leaves, so
// that no session is made that nobody could keep. Errors are *wire.Fault, auth_invalid for a refusal, or the
// cause of ctx.
func (p *Profiles) Login(ctx context.Context, name, email, password string) (wire.AuthStatus, error) {
	profile, err := p.Resolve(name)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	if profile.Local() {
		return wire.AuthStatus{}, usage("the profile local needs no sign-in: its agents are those of the configuration")
	}
	release, err := p.turn(ctx, profile.Name, turnPatience)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	defer release()
	if _, _, err := p.load(ctx, profile.Name, profile.ServerURL); err != nil {
		return wire.AuthStatus{}, err
	}
	login, err := p.gateway.Login(ctx, profile.ServerURL, email, password)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	t := tokens{serverURL: profile.ServerURL, access: login.Access, refresh: login.Refresh}
	if err := p.store(ctx, profile.Name, t); err != nil {
		p.endSession(context.WithoutCancel(ctx), t)
		return wire.AuthStatus{}, err
	}
	user := wire.AuthUser{UserID: login.UserID, Username: login.Username}
	if _, v, err := p.validate(ctx, profile.Name, t); err == nil && v.Valid {
		user = v.User
	}
	return holds(profile, user), nil
}

// validate asks whether a session holds, and stores the new token that the gateway may give.
func (p *Profiles) validate(ctx context.Context, name string, t tokens) (tokens, Validation, error) {
	v, err := p.gateway.Validate(ctx, t.serverURL, t.access, t.refresh)
	if refused(err) {
		return t, Validation{}, nil
	}
	if err != nil || v.NewAccess == "" {
		return t, v, err
	}
	now, found, err := p.replace(ctx, name, t, v.NewAccess)
	if err == nil && !found {
		err = signInFirst(name)
	}
	return now, v, err
}

// Status tells whether the session of a profile, "" for the current one, holds, and renews it if it can.
// Errors are *wire.Fault or the cause of ctx; a session that doesn't hold and a gateway that doesn't answer
// are none.
func (p *Profiles) Status(ctx context.Context, name string) (wire.AuthStatus, error) {
	profile, err := p.Resolve(name)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	if profile.Local() {
		return wire.AuthStatus{Profile: profile.Name, ServerURL: profile.ServerURL, Authenticated: true}, nil
	}
	release, err := p.turn(ctx, profile.Name, turnPatience)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	defer release()
	t, found, err := p.load(ctx, profile.Name, profile.ServerURL)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	if !found {
		return ended(profile, wire.AuthMissingSession), nil
	}
	v, err := p.check(ctx, profile.Name, t)
	return statusOf(ctx, profile, v, err)
}

// check validates a session, and once more with a new token when it doesn't hold.
func (p *Profiles) check(ctx context.Context, name string, t tokens) (Validation, error) {
	t, v, err := p.validate(ctx, name, t)
	if err != nil || v.Valid {
		return v, err
	}
	if t, err = p.refresh(ctx, name, t); err != nil {
		return Validation{}, err
	}
	_, v, err = p.validate(ctx, name, t)
	return v, err
}

// statusOf turns what came of a check into its answer.
func statusOf(ctx context.Context, profile wire.Profile, v Validation, err error) (wire.AuthStatus, error) {
	switch {
	case err == nil && v.Valid:
		return holds(profile, v.User), nil
	case err == nil || refused(err):
		return ended(profile, wire.AuthInvalidSession), nil
	case codeOf(err) == wire.CodeAuthRequired:
		return ended(profile, wire.AuthMissingSession), nil
	case codeOf(err) == wire.CodeCredentialStore:
		return wire.AuthStatus{}, err
	case ctx.Err() != nil:
		return wire.AuthStatus{}, context.Cause(ctx)
	}
	return ended(profile, wire.AuthNetwork), nil
}

func holds(profile wire.Profile, user wire.AuthUser) wire.AuthStatus {
	user.Roles, user.Permissions = append([]string{}, user.Roles...), append([]string{}, user.Permissions...)
	return wire.AuthStatus{Profile: profile.Name, ServerURL: profile.ServerURL, Authenticated: true, User: &user}
}

func ended(profile wire.Profile, reason wire.AuthReason) wire.AuthStatus {
	return wire.AuthStatus{Profile: profile.Name, ServerURL: profile.ServerURL, Reason: reason}
}

// Logout removes the session of a profile, "" for the current one, from the keychain, and tells the gateway
// if it can be told. Errors are *wire.Fault or the cause of ctx; no session there is none.
func (p *Profiles) Logout(ctx context.Context, name string) error {
	profile, err := p.Resolve(name)
	if err != nil || profile.Local() {
		return err
	}
	release, err := p.turn(ctx, profile.Name, logoutPatience)
	if err != nil {
		return err
	}
	defer release()
	t, found, err := p.load(ctx, profile.Name, profile.ServerURL)
	if err != nil {
		return err
	}
	if err := p.keychain.Delete(ctx, account(profile.Name)); err != nil {
		return keychainFault(ctx, err)
	}
	if found {
		p.endSession(ctx, t)
	}
	return nil
}

// endSession tells the gateway to forget a session, if it can be told.
func (p *Profiles) endSession(ctx context.Context, t tokens) {
	if err := p.gateway.Logout(ctx, t.serverURL, t.access); err != nil {
		p.logger.Info("the gateway could not be told of the sign-out; its token ends by itself", "error", err)
	}
}
