package profile

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"
)

// How long the use of a session waits for another use of it, here or in another engine, before it goes on
// regardless: one that takes longer talks to a gateway that doesn't answer.
const (
	turnPatience   = 45 * time.Second
	logoutPatience = 5 * time.Second
)

// tokens are a stored session.
type tokens struct {
	Veiled
	serverURL       string
	access, refresh string // refresh is empty when the gateway gave none
}

// storedSession is the value of a session's account in the keychain, by the contract.
type storedSession struct {
	ServerURL    string `json:"serverUrl"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
}

// account names a session in the keychain, by the contract.
func account(profile string) string { return "profile:" + profile }

// load returns the session of a profile at a server, found false when none is stored or that of another
// server is. The error is credential_store_unavailable or the cause of ctx.
func (p *Profiles) load(ctx context.Context, name, serverURL string) (t tokens, found bool, err error) {
	value, found, err := p.keychain.Get(ctx, account(name))
	if err != nil {
		return tokens{}, false, keychainFault(ctx, err)
	}
	var stored storedSession
	if !found || json.Unmarshal([]byte(value), &stored) != nil || stored.ServerURL != serverURL || stored.AccessToken == "" {
		return tokens{}, false, nil
	}
	return tokens{serverURL: serverURL, access: stored.AccessToken, refresh: stored.RefreshToken}, true, nil
}

// store keeps a session, also when ctx ends: the gateway has revoked what was stored before. The error is
// credential_store_unavailable.
func (p *Profiles) store(ctx context.Context, name string, t tokens) error {
	value, err := json.Marshal(storedSession{t.serverURL, t.access, t.refresh})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	return keychainFault(ctx, p.keychain.Set(ctx, account(name), string(value)))
}

// replace stores a new access token in place of that of t, and returns the session as it then is. Where the
// stored session is another's by now, or gone, it stays so, and found is that of the session that is there.
func (p *Profiles) replace(ctx context.Context, name string, t tokens, access string) (now tokens, found bool, err error) {
	ctx = context.WithoutCancel(ctx)
	now, found, err = p.load(ctx, name, t.serverURL)
	if err != nil || !found || now.access != t.access {
		return now, found, err
	}
	now.access = access
	return now, true, p.store(ctx, name, now)
}

// turn waits for the turn at a profile's session, in this process and among engines. The error is the
// cause of ctx.
func (p *Profiles) turn(ctx context.Context, name string, patience time.Duration) (release func(), err error) {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	here := p.turns.of(name)
	select {
	case here <- struct{}{}:
	case <-patient.Done():
		return func() {}, context.Cause(ctx)
	}
	locked, err := lockFile(patient, filepath.Join(p.file.dir, "session-"+name+".lock"))
	if err == nil {
		return func() { locked.Close(); <-here }, nil
	}
	if ctx.Err() != nil {
		<-here
		return func() {}, context.Cause(ctx)
	}
	p.logger.Debug("the session's lock is not to be had; two engines may renew its token at once", "profile", name, "error", err)
	return func() { <-here }, nil
}
