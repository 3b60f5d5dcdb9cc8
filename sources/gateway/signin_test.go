package gateway

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

func TestLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		login, err := w.client.Login(t.Context(), w.URL, w.Email, w.Password)
		issued := w.Issued()
		want := Login{AccessToken: issued[2], RefreshToken: issued[3], UserID: "123", Username: "ann"}
		if err != nil || login != want {
			t.Errorf("got another login, %v", err)
		}
		sent := w.Requests(fakegateway.PathLogin)[0]
		// The hash is what sha256sum says of the password.
		if sent.Body != `{"email":"ann@example.com","password":"`+passwordHash+`","token":null}` || sent.Token != "" {
			t.Errorf("sent %s with token %q", sent.Body, sent.Token)
		}
		for _, status := range []int{401, 403, 200} {
			w.RefuseLogins(status)
			_, err := w.client.Login(t.Context(), w.URL, w.Email, "wrong")
			wantFault(t, err, wire.CodeAuthInvalid, status, "wrong email or password")
		}
	})
}

// passwordHash is the SHA-256 of the fake's password in hex.
const passwordHash = "40114836fcbfef35162e5070de6c7b348e23e3441c248504e09eb5118134e8a6"

func TestLoginOfOddAnswers(t *testing.T) {
	for _, c := range []struct {
		failure fakegateway.Failure
		code    wire.Code
		words   []string
	}{
		{fakegateway.Failure{Status: 200, Body: `{"success":true,"message":"no token today"}`}, wire.CodeAuthInvalid, []string{"no token today"}},
		{fakegateway.Failure{Status: 200, Body: `{"success":false,"access_token":"x"}`}, wire.CodeAuthInvalid, nil},
		{fakegateway.Failure{Status: 200, Body: `<html>`}, wire.CodeNetwork, []string{"web page"}},
		{fakegateway.Failure{Status: 200, Body: `[]`}, wire.CodeNetwork, []string{"JSON"}},
		{fakegateway.Failure{Status: 422, Body: `{"detail":[{"msg":"bad","input":"` + passwordHash + `"}]}`}, wire.CodeNetwork, []string{"422", "bad", "[redacted]"}},
		{fakegateway.Failure{Status: 401, Body: `{"message":"a\nb\u0000c Pässwort ` + strings.Repeat("x", 400) + `"}`}, wire.CodeAuthInvalid, []string{"a b c Pässwort x", "…"}},
		{fakegateway.Failure{Status: 500}, wire.CodeNetwork, []string{"500", "refused for the test"}},
		{fakegateway.Failure{Status: 404}, wire.CodeNotFound, []string{"404"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{}, true)
			w.Fail(fakegateway.PathLogin, c.failure)
			_, err := w.client.Login(t.Context(), w.URL, w.Email, w.Password)
			wantFault(t, err, c.code, c.failure.Status, c.words...)
			if strings.Contains(err.Error(), passwordHash) || len(err.Error()) > 600 {
				t.Errorf("the message is %s", err)
			}
		})
	}
}

func TestValidateToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		access, refresh := w.session.access, w.session.refresh
		user := wire.AuthUser{UserID: "123", Username: "ann", Roles: []string{"developer"}, Permissions: []string{"main.agentflow:read"}}
		check := func(access, refresh string, want Validation) {
			t.Helper()
			got, err := w.client.ValidateToken(t.Context(), w.URL, access, refresh)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %t %+v %q, %v; want %t %+v %q", got.Valid, got.User, got.NewAccessToken, err, want.Valid, want.User, want.NewAccessToken)
			}
		}
		check(access, refresh, Validation{Valid: true, User: user})
		check(access, "", Validation{Valid: true, User: user})
		if sent := w.Requests(fakegateway.PathValidate); strings.Contains(sent[1].Body, "refresh_token") || !strings.Contains(sent[0].Body, refresh) {
			t.Errorf("sent %q", sent)
		}
		check("nonsense", refresh, Validation{})
		w.Expire(false)
		check(access, "", Validation{})
		check(access, refresh, Validation{Valid: true, User: user, NewAccessToken: "eyJ.access-000002-7f3a91c2e5"})
		w.Fail(fakegateway.PathValidate, fakegateway.Failure{Status: 200, Body: `{"valid":false,"new_access_token":"later"}`},
			fakegateway.Failure{Status: 401}, fakegateway.Failure{Status: 200, Body: `{"valid":true,"user_id":7,"is_superuser":true,"roles":null}`})
		check(access, refresh, Validation{NewAccessToken: "later"})
		check(access, refresh, Validation{})
		check(access, refresh, Validation{Valid: true, User: wire.AuthUser{UserID: "7", IsSuperuser: true, Roles: []string{}, Permissions: []string{}}})
		w.Fail(fakegateway.PathValidate, fakegateway.Failure{Status: 502})
		_, err := w.client.ValidateToken(t.Context(), w.URL, access, refresh)
		wantFault(t, err, wire.CodeNetwork, 502)
	})
}

func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		fresh, err := w.client.Refresh(t.Context(), w.URL, w.session.refresh)
		if issued := w.Issued(); err != nil || fresh != issued[2] {
			t.Errorf("got %s, %v", fresh, err)
		}
		_, err = w.client.Refresh(t.Context(), w.URL, "nonsense")
		wantFault(t, err, wire.CodeAuthInvalid, 200, "invalid refresh token", "sign in")
		for status, code := range map[int]wire.Code{
			400: wire.CodeAuthInvalid, 401: wire.CodeAuthInvalid, 403: wire.CodeAuthInvalid, 429: wire.CodeNetwork, 408: wire.CodeNetwork, 500: wire.CodeNetwork, 302: wire.CodeNetwork,
		} {
			w.Fail(fakegateway.PathRefresh, fakegateway.Failure{Status: status})
			_, err = w.client.Refresh(t.Context(), w.URL, w.session.refresh)
			wantFault(t, err, code, status)
		}
		w.Fail(fakegateway.PathRefresh, fakegateway.Failure{Drop: true})
		_, err = w.client.Refresh(t.Context(), w.URL, w.session.refresh)
		wantFault(t, err, wire.CodeNetwork, 0, "connection was lost")
	})
}

func TestLogoutWaitsEightSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		if err := w.client.Logout(t.Context(), w.URL, w.session.access); err != nil {
			t.Error(err)
		}
		if sent := w.Requests(fakegateway.PathLogout)[0].Body; sent != `{"token":"`+w.session.access+`"}` {
			t.Errorf("sent %s", sent)
		}
		w.Fail(fakegateway.PathLogout, fakegateway.Failure{Status: 500}, fakegateway.Failure{Hang: true})
		wantFault(t, w.client.Logout(t.Context(), w.URL, "x"), wire.CodeNetwork, 500)
		start := time.Now()
		wantFault(t, w.client.Logout(t.Context(), w.URL, "x"), wire.CodeNetwork, 0, "within 8s")
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestCallsRefreshAndRepeatOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		asked := func() int { return len(w.Requests(fakegateway.PathConversations)) }
		w.Expire(false)
		if _, err := w.account.Conversations(t.Context()); err != nil || asked() != 2 {
			t.Errorf("%v, asked %d times", err, asked())
		}
		w.Fail(fakegateway.PathConversations, fakegateway.Failure{Status: 401}, fakegateway.Failure{Status: 401}, fakegateway.Failure{Status: 401})
		_, err := w.account.Conversations(t.Context())
		wantFault(t, err, wire.CodeAuthInvalid, 401, "refused for the test", "sign in again")
		if asked() != 4 || w.session.stales != 2 {
			t.Errorf("asked %d times, %d refreshes", asked(), w.session.stales)
		}
		_, err = w.account.Conversations(t.Context()) // the third 401 is still waiting
		if err != nil || asked() != 6 {
			t.Errorf("%v, asked %d times", err, asked())
		}
		w.Fail(fakegateway.PathConversations, fakegateway.Failure{Status: 403})
		_, err = w.account.Conversations(t.Context())
		wantFault(t, err, wire.CodeAuthInvalid, 403, "permission")
		if asked() != 7 || w.session.stales != 3 {
			t.Errorf("asked %d times, %d refreshes: 403 is no expired token", asked(), w.session.stales)
		}
		w.Expire(true)
		_, err = w.account.Conversations(t.Context())
		wantFault(t, err, wire.CodeAuthInvalid, 200, "invalid refresh token")
		w.session.fault = wire.NewFault(wire.CodeAuthRequired, "sign in")
		before := asked()
		if _, err = w.account.Conversations(t.Context()); !errors.Is(err, w.session.fault) || asked() != before {
			t.Errorf("got %v", err)
		}
	})
}

// TestTokensThatNoHeaderCarries are refused where they come, not by every call that follows.
func TestTokensThatNoHeaderCarries(t *testing.T) {
	for _, token := range []string{"a\\nb", "a\\u0000b", "a b", "a\\u007f", "tökén", "\\t"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{}, true)
			w.Fail(fakegateway.PathLogin, fakegateway.Failure{Status: 200, Body: `{"success":true,"access_token":"` + token + `"}`})
			w.Fail(fakegateway.PathRefresh, fakegateway.Failure{Status: 200, Body: `{"success":true,"access_token":"` + token + `"}`})
			w.Fail(fakegateway.PathValidate, fakegateway.Failure{Status: 200, Body: `{"valid":true,"new_access_token":"` + token + `"}`})
			_, login := w.client.Login(t.Context(), w.URL, w.Email, w.Password)
			_, refresh := w.client.Refresh(t.Context(), w.URL, w.session.refresh)
			_, validate := w.client.ValidateToken(t.Context(), w.URL, w.session.access, w.session.refresh)
			for _, err := range []error{login, refresh, validate} {
				wantFault(t, err, wire.CodeNetwork, 200, "token", "administrator")
			}
		})
	}
}

// TestNoPathNamesAnother: a conversation of dots would be another path.
func TestNoPathNamesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		for _, id := range []string{".", ".."} {
			if reason, err := w.account.StopRun(t.Context(), id); reason != wire.StopNotRunning || err != nil {
				t.Errorf("%s: %v, %v", id, reason, err)
			}
		}
		if len(w.Stopped()) != 0 {
			t.Errorf("stopped %q", w.Stopped())
		}
	})
}
