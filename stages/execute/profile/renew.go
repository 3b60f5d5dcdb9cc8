package profile

import (
	"context"
	"crypto/sha256"
	"errors"

	"sluice/internal/wire"
)

// Session gives the tokens of one profile's session at one server. Its errors are *wire.Fault or the cause
// of ctx: auth_required when no session of that server is stored, auth_invalid when the gateway ended it,
// network_error when nothing is known, credential_store_unavailable.
type Session struct {
	profiles *Profiles
	profile  wire.Profile
}

// Session returns the session of a profile that Resolve returned. Nothing is read before the first call.
func (p *Profiles) Session(profile wire.Profile) *Session { return &Session{p, profile} }

// Token returns the access token as the keychain has it. It is a secret.
func (s *Session) Token(ctx context.Context) (string, error) {
	t, found, err := s.profiles.load(ctx, s.profile.Name, s.profile.ServerURL)
	if err != nil {
		return "", err
	}
	if !found {
		return "", signInFirst(s.profile.Name)
	}
	return t.access, nil
}

// Refreshed returns an access token other than stale, which the gateway has refused: the one that another
// engine has stored meanwhile, else a new one. Calls that name the same token share one renewal. When ctx
// ends, the renewal goes on.
func (s *Session) Refreshed(ctx context.Context, stale string) (string, error) {
	r, err := s.profiles.renewal(renewalKey{s.profile.Name, s.profile.ServerURL, sha256.Sum256([]byte(stale))})
	if err != nil {
		return "", err
	}
	select {
	case <-r.done:
		return r.access, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// renewalKey tells renewals apart. It holds no secret, but the hash of one.
type renewalKey struct {
	name, serverURL string
	stale           [sha256.Size]byte
}

// renewal is one that runs. access and err are set before done is closed.
type renewal struct {
	Veiled
	done   chan struct{}
	access string
	err    error
}

var errClosed = errors.New("profile: closed")

// renewal returns the running renewal, or starts one.
func (p *Profiles) renewal(key renewalKey) (*renewal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if r := p.renewals[key]; r != nil {
		return r, nil
	}
	r := &renewal{done: make(chan struct{})}
	p.renewals[key] = r
	p.running.Go(func() {
		r.access, r.err = p.renew(p.ctx, key)
		p.mu.Lock()
		delete(p.renewals, key)
		p.mu.Unlock()
		close(r.done)
	})
	return r, nil
}

func (p *Profiles) renew(ctx context.Context, key renewalKey) (string, error) {
	release, err := p.turn(ctx, key.name, key.serverURL)
	if err != nil {
		return "", err
	}
	defer release()
	t, found, err := p.load(ctx, key.name, key.serverURL)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", signInFirst(key.name)
	case sha256.Sum256([]byte(t.access)) != key.stale:
		return t.access, nil // another engine was faster
	}
	t, err = p.refresh(ctx, key.name, t)
	return t.access, err
}

// refresh gets a new access token and stores it. Whoever has the turn calls it.
func (p *Profiles) refresh(ctx context.Context, name string, t tokens) (tokens, error) {
	if t.refresh == "" {
		return t, wire.NewFault(wire.CodeAuthInvalid, "the session at the profile "+name+" has ended: sign in again")
	}
	access, err := p.gateway.Refresh(ctx, t.serverURL, t.refresh)
	if err != nil {
		return t, err
	}
	now, found, err := p.replace(ctx, name, t, access)
	if err == nil && !found {
		err = signInFirst(name)
	}
	return now, err
}
