package profile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// signIn begins a sign-in at corp, which the gateway holds, and returns where its error comes.
func (w *world) signIn(p *Profiles) <-chan error {
	w.t.Helper()
	done, seen := make(chan error, 1), w.gateway.seen("login")
	go func() {
		_, err := login(p, "corp", password)
		done <- err
	}()
	testkit.Until(w.t, "the sign-in is asked for", func() bool { return w.gateway.seen("login") > seen })
	return done
}

// TestSignInsThatAreOvertaken keep no session, here and at the gateway, and say why.
func TestSignInsThatAreOvertaken(t *testing.T) {
	const other = "https://other.example.com"
	for name, c := range map[string]struct {
		overtake func(w *world, p *Profiles) error
		says     string
	}{
		"by a sign-out":      {func(_ *world, p *Profiles) error { return logout(p, "corp") }, "signed out"},
		"by another server":  {func(_ *world, p *Profiles) error { _, err := p.Set(nothing, "corp", other, nil); return err }, "another server"},
		"by another engine":  {func(w *world, _ *Profiles) error { _, err := w.engine().Set(nothing, "corp", other, nil); return err }, "another server"},
		"by the same server": {func(w *world, p *Profiles) error { w.set(p, "corp", other); w.set(p, "corp", server); return nil }, "set anew"},
	} {
		for _, stage := range []string{"login", "validate"} {
			t.Run(name+" at "+stage, func(t *testing.T) {
				w := newWorld(t)
				p := w.engine()
				w.set(p, "corp", server)
				hold := make(chan struct{})
				if stage == "login" {
					w.gateway.signing = hold
				} else {
					w.gateway.checking = hold
				}
				done := w.signIn(p)
				testkit.Until(t, "it is held", func() bool { return w.gateway.seen(stage) == 1 })
				if err := c.overtake(w, p); err != nil {
					t.Fatal(err)
				}
				close(hold)
				err := <-done
				wantCode(t, err, wire.CodeAuthRequired)
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the sign-in ended with %v, want a word on %q", err, c.says)
				}
				if len(w.keychain.all()) > 0 {
					t.Error("its session is stored")
				}
				if w.gateway.seen("logout "+server+" SECRET-access-1") == 0 {
					t.Error("its session goes on at the gateway")
				}
			})
		}
	}
}

// TestSignInAtTheRightServerWaitsForNoOther: a server that the profile has left may hang.
func TestSignInAtTheRightServerWaitsForNoOther(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "corp", "https://wrong.example.com")
	hold := make(chan struct{})
	w.gateway.signing = hold
	done := w.signIn(p)
	w.gateway.mu.Lock()
	w.gateway.signing = nil
	w.gateway.mu.Unlock()
	w.set(p, "corp", server)
	if status, err := login(p, "corp", password); err != nil || !status.Authenticated {
		t.Errorf("Login = %+v, %v", status, err)
	}
	close(hold)
	wantCode(t, <-done, wire.CodeAuthRequired)
	w.wantStored("SECRET-access-1")
}

// TestLogoutWaitsForNobody who uses the session, here or in another engine.
func TestLogoutWaitsForNobody(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	p.turns.of(lockName("corp", server)) <- struct{}{}
	locked, err := lockFile(nothing, filepath.Join(w.dir, lockName("corp", server)))
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	if err := logout(p, ""); err != nil || len(w.keychain.all()) > 0 {
		t.Errorf("Logout = %v, %d sessions stay", err, len(w.keychain.all()))
	}
}

// TestPassed: what is called first counts as first, and a keychain that hangs holds nothing up.
func TestPassed(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	p.changes.of("corp") <- struct{}{} // the keychain hangs
	for name, call := range map[string]func(passed func()) error{
		"logout": func(passed func()) error { return p.Logout(nothing, corp, passed) },
		"set":    func(passed func()) error { _, err := p.Set(nothing, "corp", server+"/new", passed); return err },
	} {
		before, passed, done := p.endings.of("corp"), make(chan struct{}), make(chan error, 1)
		go func() { done <- call(func() { close(passed) }) }()
		<-passed
		if p.endings.of("corp") != before+1 {
			t.Errorf("%s: a sign-in that follows counts as earlier", name)
		}
		<-p.changes.of("corp")
		if err := <-done; err != nil {
			t.Error(err)
		}
		p.changes.of("corp") <- struct{}{}
	}
}

// TestForgetKeepsALaterSession of the server that the profile was set to.
func TestForgetKeepsALaterSession(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "corp", "https://other.example.com")
	signIn := func() {
		w.keychain.put("profile:corp", stored(server, "SECRET-access-1", "SECRET-refresh"))
	}
	if _, err := p.Set(nothing, "corp", server, signIn); err != nil {
		t.Fatal(err)
	}
	w.wantStored("SECRET-access-1")
	w.keychain.fail(errors.New("locked"), nil)
	w.set(p, "corp", "https://other.example.com")
	if !strings.Contains(w.logged.String(), "unused") {
		t.Error("the log doesn't say that a session stays")
	}
}
