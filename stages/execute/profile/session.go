package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"
)

// turnPatience is how long the use of a session waits for another use of it, here or in another engine,
// before it goes on regardless: one that takes longer talks to a gateway that doesn't answer.
const turnPatience = 45 * time.Second

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
	release, err := p.alone(ctx, name)
	if err != nil {
		return tokens{}, false, err
	}
	defer release()
	now, found, err = p.load(ctx, name, t.serverURL)
	if err != nil || !found || now.access != t.access {
		return now, found, err
	}
	now.access = access
	return now, true, p.store(ctx, name, now)
}

// alone waits until nothing else in this process changes what the keychain holds of a profile's session,
// which takes no longer than calls of the keychain. The error is the cause of ctx.
func (p *Profiles) alone(ctx context.Context, name string) (release func(), err error) {
	here := p.changes.of(name)
	select {
	case here <- struct{}{}:
		return func() { <-here }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// turn waits for the turn at a profile's session at a server, in this process and among engines. A server
// that the profile has left holds nothing up. The error is the cause of ctx.
func (p *Profiles) turn(ctx context.Context, name, serverURL string) (release func(), err error) {
	patient, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	lock := lockName(name, serverURL)
	here := p.turns.of(lock)
	select {
	case here <- struct{}{}:
	case <-patient.Done():
		return func() {}, context.Cause(ctx)
	}
	locked, err := lockFile(patient, filepath.Join(p.file.dir, lock))
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

// lockName names the lock file of a session. An address is no file name, so a hash stands for it.
func lockName(name, serverURL string) string {
	sum := sha256.Sum256([]byte(serverURL))
	return "session-" + name + "-" + hex.EncodeToString(sum[:8]) + ".lock"
}

// tell calls a function that may be nil.
func tell(passed func()) {
	if passed != nil {
		passed()
	}
}
