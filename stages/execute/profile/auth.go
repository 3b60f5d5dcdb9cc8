package profile

import (
	"context"

	"sluice/internal/wire"
)

// Login signs in at a profile that Resolve returned. The keychain is asked before the password leaves, so
// that no session is made that nobody could keep. A Logout of the profile, or a Set of it to another server,
// that begins later wins: the session is not kept then, which is an auth_required. passed, if it isn't nil,
// is called as soon as what begins from then on counts as later. Errors are *wire.Fault, auth_invalid for a
// refusal, or the cause of ctx.
func (p *Profiles) Login(ctx context.Context, profile wire.Profile, email, password string, passed func()) (wire.AuthStatus, error) {
	if profile.Local() {
		return wire.AuthStatus{}, usage("the profile local needs no sign-in: its agents are those of the configuration")
	}
	begun := p.endings.of(profile.Name)
	tell(passed)
	release, err := p.turn(ctx, profile.Name, profile.ServerURL)
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
	user := wire.AuthUser{UserID: login.UserID, Username: login.Username}
	err = p.keep(ctx, profile, begun, t)
	if err == nil {
		now, v, checked := p.validate(ctx, profile.Name, t)
		if checked == nil && v.Valid {
			t, user = now, v.User
		}
		err = p.stays(profile, begun)
	}
	if err != nil {
		p.endSession(context.WithoutCancel(ctx), t)
		return wire.AuthStatus{}, err
	}
	return holds(profile, user), nil
}

// keep stores the session of a sign-in, unless it was overtaken.
func (p *Profiles) keep(ctx context.Context, profile wire.Profile, begun uint64, t tokens) error {
	ctx = context.WithoutCancel(ctx)
	release, err := p.alone(ctx, profile.Name)
	if err != nil {
		return err
	}
	defer release()
	if err := p.stays(profile, begun); err != nil {
		return err
	}
	return p.store(ctx, profile.Name, t)
}

// stays fails when a sign-in that has begun at an ending of the profile's sessions was overtaken by another
// or by another server, which another engine may have set too.
func (p *Profiles) stays(profile wire.Profile, begun uint64) error {
	now, err := p.Resolve(profile.Name)
	switch {
	case err != nil:
		return err
	case now.ServerURL != profile.ServerURL:
		return wire.NewFault(wire.CodeAuthRequired, "the profile "+profile.Name+" was set to another server while this sign-in was under way, so its session isn't kept: sign in again")
	case p.endings.of(profile.Name) != begun:
		return wire.NewFault(wire.CodeAuthRequired, "the profile "+profile.Name+" was signed out or set anew while this sign-in was under way, so its session isn't kept: sign in again")
	}
	return nil
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

// Status tells whether the session of a profile that Resolve returned holds, and renews it if it can.
// Errors are *wire.Fault or the cause of ctx; a session that doesn't hold and a gateway that doesn't answer
// are none.
func (p *Profiles) Status(ctx context.Context, profile wire.Profile) (wire.AuthStatus, error) {
	if profile.Local() {
		return wire.AuthStatus{Profile: profile.Name, ServerURL: profile.ServerURL, Authenticated: true}, nil
	}
	release, err := p.turn(ctx, profile.Name, profile.ServerURL)
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

// Logout removes the session of a profile that Resolve returned from the keychain, at once, and tells the
// gateway if it can be told. passed, if it isn't nil, is called as soon as a Login that begins from then on
// counts as later. Errors are *wire.Fault or the cause of ctx; no session there is none.
func (p *Profiles) Logout(ctx context.Context, profile wire.Profile, passed func()) error {
	if profile.Local() {
		return nil
	}
	p.endings.add(profile.Name)
	tell(passed)
	t, found, err := p.drop(ctx, profile)
	if err == nil && found {
		p.endSession(ctx, t)
	}
	return err
}

// drop removes the session of a profile from the keychain, and returns it when it is of the profile's server.
func (p *Profiles) drop(ctx context.Context, profile wire.Profile) (t tokens, found bool, err error) {
	release, err := p.alone(ctx, profile.Name)
	if err != nil {
		return tokens{}, false, err
	}
	defer release()
	if t, found, err = p.load(ctx, profile.Name, profile.ServerURL); err != nil {
		return tokens{}, false, err
	}
	return t, found, keychainFault(ctx, p.keychain.Delete(ctx, account(profile.Name)))
}

// endSession tells the gateway to forget a session, if it can be told.
func (p *Profiles) endSession(ctx context.Context, t tokens) {
	if err := p.gateway.Logout(ctx, t.serverURL, t.access); err != nil {
		p.logger.Info("the gateway could not be told of the sign-out; its token ends by itself", "error", err)
	}
}
