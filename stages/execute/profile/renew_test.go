package profile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func (w *world) session(p *Profiles) *Session {
	w.t.Helper()
	profile, err := p.Resolve("")
	if err != nil {
		w.t.Fatal(err)
	}
	return p.Session(profile)
}

func TestToken(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	s := w.session(p)
	if token, err := s.Token(nothing); token != "SECRET-access-1" || err != nil {
		t.Errorf("Token = %q, %v", token, err)
	}
	if err := logout(p, ""); err != nil {
		t.Fatal(err)
	}
	for _, call := range []func(*Session) (string, error){
		func(s *Session) (string, error) { return s.Token(nothing) },
		func(s *Session) (string, error) { return s.Refreshed(nothing, "SECRET-access-1") },
	} {
		_, err := call(s)
		wantCode(t, err, wire.CodeAuthRequired)
		w.keychain.put("profile:corp", stored("https://other.example.com", "SECRET-access-1", "SECRET-refresh"))
		_, err = call(s)
		wantCode(t, err, wire.CodeAuthRequired)
		w.keychain.fail(errors.New("locked"), nil)
		_, err = call(s)
		wantCode(t, err, wire.CodeCredentialStore)
		w.keychain.fail(nil, nil)
	}
}

// refreshAll has many calls refused at once, over the sessions, and returns their new tokens.
func refreshAll(t *testing.T, w *world, n int, sessions ...*Session) (tokens []string, errs []error) {
	t.Helper()
	w.gateway.hold = make(chan struct{})
	tokens, errs = make([]string, n), make([]error, n)
	var wait, begun sync.WaitGroup
	for i := range n {
		begun.Add(1)
		wait.Go(func() {
			begun.Done()
			tokens[i], errs[i] = sessions[i%len(sessions)].Refreshed(nothing, "SECRET-access-1")
		})
	}
	begun.Wait()
	testkit.Until(t, "a refresh is asked for", func() bool { return w.gateway.seen("refresh") > 0 })
	close(w.gateway.hold)
	wait.Wait()
	return tokens, errs
}

func TestRefusedCallsShareOneRefresh(t *testing.T) {
	w := newWorld(t)
	first := w.session(w.signedIn())
	other := w.session(w.engine())
	w.gateway.expire(false)
	tokens, errs := refreshAll(t, w, 20, first, other)
	for i := range tokens {
		if tokens[i] != "SECRET-access-2" || errs[i] != nil {
			t.Errorf("call %d got %q, %v", i, tokens[i], errs[i])
		}
	}
	if n := w.gateway.seen("refresh"); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	w.wantStored("SECRET-access-2")
}

func TestRefreshesThatFail(t *testing.T) {
	w := newWorld(t)
	s := w.session(w.signedIn())
	w.gateway.expire(true)
	_, errs := refreshAll(t, w, 3, s)
	for _, err := range errs {
		wantCode(t, err, wire.CodeAuthInvalid)
	}
	w.gateway.down = true
	_, err := s.Refreshed(nothing, "SECRET-access-1")
	wantCode(t, err, wire.CodeNetwork)
	w.wantStored("SECRET-access-1")
	w.keychain.put("profile:corp", stored(server, "SECRET-access-1", ""))
	_, err = s.Refreshed(nothing, "SECRET-access-1")
	wantCode(t, err, wire.CodeAuthInvalid)
	w.keychain.put("profile:corp", stored(server, "SECRET-access-9", ""))
	if token, err := s.Refreshed(nothing, "SECRET-access-1"); token != "SECRET-access-9" || err != nil {
		t.Errorf("Refreshed = %q, %v, want what another engine stored", token, err)
	}
}

func TestNewTokenThatCannotBeStored(t *testing.T) {
	w := newWorld(t)
	s := w.session(w.signedIn())
	w.gateway.expire(false)
	w.keychain.fail(nil, errors.New("full"))
	_, err := s.Refreshed(nothing, "SECRET-access-1")
	wantCode(t, err, wire.CodeCredentialStore)
	w.keychain.fail(nil, nil)
	if token, err := s.Refreshed(nothing, "SECRET-access-1"); token != "SECRET-access-3" || err != nil {
		t.Errorf("Refreshed = %q, %v, want a session that comes back", token, err)
	}
}

func TestRenewalOutlivesItsCaller(t *testing.T) {
	w := newWorld(t)
	s := w.session(w.signedIn())
	w.gateway.expire(false)
	w.gateway.hold = make(chan struct{})
	ctx, cancel := context.WithCancelCause(nothing)
	cause := errors.New("the chat was cancelled")
	done := make(chan error, 1)
	go func() {
		_, err := s.Refreshed(ctx, "SECRET-access-1")
		done <- err
	}()
	testkit.Until(t, "the refresh is asked for", func() bool { return w.gateway.seen("refresh") == 1 })
	cancel(cause)
	if err := <-done; err != cause {
		t.Errorf("Refreshed = %v", err)
	}
	close(w.gateway.hold)
	testkit.Until(t, "the new token is stored", func() bool { return w.keychain.all()["profile:corp"] == storedBytes("SECRET-access-2") })
}

// storedBytes is what this package stores, member by member in its order.
func storedBytes(access string) string {
	return fmt.Sprintf(`{"serverUrl":%q,"accessToken":%q,"refreshToken":"SECRET-refresh"}`, server, access)
}

func TestLogoutWhileATokenIsRenewed(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	s := w.session(p)
	w.gateway.expire(false)
	w.gateway.hold = make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := s.Refreshed(nothing, "SECRET-access-1")
		done <- err
	}()
	testkit.Until(t, "the refresh is asked for", func() bool { return w.gateway.seen("refresh") == 1 })
	if err := w.keychain.Delete(nothing, "profile:corp"); err != nil { // as by an engine that waits no longer
		t.Fatal(err)
	}
	close(w.gateway.hold)
	wantCode(t, <-done, wire.CodeAuthRequired)
	if left := w.keychain.all(); len(left) > 0 {
		t.Error("the session came back after the sign-out")
	}
}

func TestClose(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	s := w.session(p)
	w.gateway.expire(false)
	w.gateway.hold = make(chan struct{}) // never closed: Close ends the renewal
	done := make(chan error, 1)
	go func() {
		_, err := s.Refreshed(nothing, "SECRET-access-1")
		done <- err
	}()
	testkit.Until(t, "the refresh is asked for", func() bool { return w.gateway.seen("refresh") == 1 })
	p.Close()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Refreshed = %v", err)
	}
	if _, err := s.Refreshed(nothing, "SECRET-access-1"); !errors.Is(err, errClosed) {
		t.Errorf("Refreshed of closed profiles = %v", err)
	}
}
