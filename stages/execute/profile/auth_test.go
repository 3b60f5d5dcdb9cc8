package profile

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"sluice/internal/wire"
)

// stored is the value that the keychain holds of a session.
func stored(serverURL, access, refresh string) string {
	text, err := json.Marshal(map[string]string{"serverUrl": serverURL, "accessToken": access, "refreshToken": refresh})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// wantStored compares what the keychain holds of the profile corp.
func (w *world) wantStored(access string) {
	w.t.Helper()
	var got, want map[string]string
	if err := errors.Join(json.Unmarshal([]byte(w.keychain.all()["profile:corp"]), &got), json.Unmarshal([]byte(stored(server, access, "SECRET-refresh")), &want)); err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("stored is %q, want %q", got, want)
	}
}

func (w *world) wantCalls(want ...string) {
	w.t.Helper()
	if !slices.Equal(w.gateway.calls, want) {
		w.t.Errorf("the calls were %q, want %q", w.gateway.calls, want)
	}
	w.gateway.calls = nil
}

func (w *world) wantStatus(p *Profiles, reason wire.AuthReason) {
	w.t.Helper()
	got, err := status(p, "")
	want := wire.AuthStatus{Profile: "corp", ServerURL: server, Authenticated: reason == wire.AuthHolds, Reason: reason}
	if reason == wire.AuthHolds {
		want.User = &ann
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		w.t.Errorf("Status = %+v, %v, want %+v", got, err, want)
	}
}

func TestLoginStatusLogout(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	_, err := login(p, "", password)
	wantCode(t, err, wire.CodeConfigInvalid)
	w.set(p, "corp", server)
	w.wantStatus(p, wire.AuthMissingSession)
	w.wantCalls()
	status, err := login(p, "corp", password)
	if want := (wire.AuthStatus{Profile: "corp", ServerURL: server, Authenticated: true, User: &ann}); err != nil || !reflect.DeepEqual(status, want) {
		t.Errorf("Login = %+v, %v", status, err)
	}
	w.wantStored("SECRET-access-1")
	w.wantCalls("login "+server, "validate "+server+" SECRET-access-1 SECRET-refresh")
	w.wantStatus(w.engine(), wire.AuthHolds)
	if err := logout(p, ""); err != nil {
		t.Fatal(err)
	}
	w.wantCalls("validate "+server+" SECRET-access-1 SECRET-refresh", "logout "+server+" SECRET-access-1")
	if len(w.keychain.all()) > 0 {
		t.Error("the session is still stored")
	}
	w.wantStatus(p, wire.AuthMissingSession)
	if err := logout(p, ""); err != nil {
		t.Error(err)
	}
	w.wantCalls()
}

func TestLoginThatFails(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "corp", server)
	_, err := login(p, "", "wrong")
	wantCode(t, err, wire.CodeAuthInvalid)
	w.gateway.down = true
	_, err = login(p, "", password)
	wantCode(t, err, wire.CodeNetwork)
	_, err = login(p, "nobody", password)
	wantCode(t, err, wire.CodeNotFound)
	w.gateway.down, w.gateway.calls = false, nil
	w.keychain.fail(errors.New("locked"), nil)
	_, err = login(p, "", password)
	wantCode(t, err, wire.CodeCredentialStore)
	w.wantCalls() // nothing left this process
	w.keychain.fail(nil, errors.New("full"))
	_, err = login(p, "", password)
	wantCode(t, err, wire.CodeCredentialStore)
	w.wantCalls("login "+server, "logout "+server+" SECRET-access-1") // no session that nobody has
	if len(w.keychain.all()) > 0 {
		t.Error("something was stored")
	}
}

func TestLoginWithoutValidation(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "corp", server)
	w.gateway.noCheck = true
	status, err := login(p, "", password)
	want := wire.AuthUser{UserID: "123", Username: "ann by login", Roles: []string{}, Permissions: []string{}}
	if err != nil || !status.Authenticated || !reflect.DeepEqual(*status.User, want) {
		t.Errorf("Login = %+v, %v", status, err)
	}
	w.gateway.noCheck, w.gateway.rotates = false, true
	if _, err := login(p, "", password); err != nil {
		t.Fatal(err)
	}
	w.wantStored("SECRET-access-3")
}

func TestStatusRenews(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	w.gateway.calls = nil
	w.gateway.expire(false)
	w.wantStatus(p, wire.AuthHolds)
	w.wantStored("SECRET-access-2")
	w.wantCalls("validate "+server+" SECRET-access-1 SECRET-refresh", "refresh "+server+" SECRET-refresh", "validate "+server+" SECRET-access-2 SECRET-refresh")
	w.gateway.rotates = true
	w.wantStatus(p, wire.AuthHolds)
	w.wantStored("SECRET-access-3")
	w.gateway.expire(false) // a new token comes beside valid:false
	w.wantStatus(p, wire.AuthHolds)
	w.wantStored(w.gateway.access)
}

func TestSessionsThatDoNotHold(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	w.gateway.expire(true)
	w.wantStatus(p, wire.AuthInvalidSession)
	w.gateway.down = true
	w.wantStatus(p, wire.AuthNetwork)
	w.wantStored("SECRET-access-1")
	for value, reason := range map[string]wire.AuthReason{
		stored("https://other.example.com", "SECRET-access-1", "SECRET-refresh"): wire.AuthMissingSession,
		stored(server, "", "SECRET-refresh"):                                     wire.AuthMissingSession,
		"damaged":                                                                wire.AuthMissingSession,
		stored(server, "SECRET-access-1", ""):                                    wire.AuthNetwork,
	} {
		w.keychain.put("profile:corp", value)
		w.wantStatus(p, reason)
	}
	w.gateway.down = false
	w.keychain.put("profile:corp", stored(server, "SECRET-access-1", "")) // without a refresh token
	w.wantStatus(p, wire.AuthInvalidSession)
	w.keychain.fail(errors.New("locked"), nil)
	_, err := status(p, "")
	wantCode(t, err, wire.CodeCredentialStore)
	wantCode(t, logout(p, ""), wire.CodeCredentialStore)
}

func TestLogoutOfASessionOfAnotherServer(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "corp", server)
	w.keychain.put("profile:corp", stored("https://other.example.com", "SECRET-access-1", "SECRET-refresh"))
	if err := logout(p, ""); err != nil {
		t.Fatal(err)
	}
	w.wantCalls() // the token goes nowhere
	if len(w.keychain.all()) > 0 {
		t.Error("the session is still stored")
	}
	w.signedIn()
	w.gateway.down = true
	if err := logout(p, ""); err != nil || len(w.keychain.all()) > 0 {
		t.Errorf("Logout without a network = %v, and %d sessions stay", err, len(w.keychain.all()))
	}
}

func TestCancelledCalls(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	w.gateway.calls = nil
	here, changing := p.turns.of(lockName("corp", server)), p.changes.of("corp")
	here <- struct{}{} // somebody else has the turn
	changing <- struct{}{}
	ctx, cancel := context.WithCancelCause(nothing)
	cause := errors.New("the host is gone")
	cancel(cause)
	_, login := p.Login(ctx, corp, email, password, nil)
	_, status := p.Status(ctx, corp)
	for _, err := range []error{login, status, p.Logout(ctx, corp, nil)} {
		if err != cause {
			t.Errorf("the error is %v, want the cause", err)
		}
	}
	<-here
	<-changing
	w.wantCalls()
}
