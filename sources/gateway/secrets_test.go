package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/testkit/fakegateway"
)

var discard = log.New(io.Discard, "", 0)

// TestNothingSecretIsLoggedOrSaid runs a session at debug level through everything that fails, against
// a gateway that repeats what it was sent.
func TestNothingSecretIsLoggedOrSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		w := newWorld(t, Options{Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}, true)
		access, refresh := w.session.access, w.session.refresh
		calls := map[string]func() error{
			fakegateway.PathLogin: func() error {
				_, err := w.client.Login(t.Context(), w.URL, w.Email, w.Password)
				return err
			},
			fakegateway.PathRefresh: func() error {
				_, err := w.client.Refresh(t.Context(), w.URL, refresh)
				return err
			},
			fakegateway.PathValidate: func() error {
				_, err := w.client.ValidateToken(t.Context(), w.URL, access, refresh)
				return err
			},
			fakegateway.PathLogout: func() error { return w.client.Logout(t.Context(), w.URL, access) },
			fakegateway.PathConversations: func() error {
				_, err := w.account.Conversations(t.Context())
				return err
			},
			fakegateway.PathChat: func() error { return w.chat(t, t.Context(), "n=1", &collector{}) },
		}
		secrets := map[string]string{fakegateway.PathLogin: passwordHash, fakegateway.PathRefresh: refresh}
		for path, run := range calls {
			secret := secrets[path]
			if secret == "" {
				secret = access
			}
			for _, status := range []int{400, 403, 404, 422, 500} {
				w.Fail(path, fakegateway.Failure{Status: status, Body: `{"detail":[{"input":"` + secret + `"}]}`})
				err := run()
				if path == fakegateway.PathValidate && status == 403 {
					continue // a session that doesn't hold, and no error
				}
				if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), redacted) {
					t.Errorf("%s %d: %v", path, status, err)
				}
			}
			if !strings.Contains(logged.String(), "path="+path+" ") {
				t.Errorf("the log doesn't tell %s", path)
			}
		}
		for _, secret := range w.Secrets() {
			if strings.Contains(logged.String(), secret) {
				t.Errorf("the log holds %s", secret)
			}
		}
	})
}

func TestWhatHoldsTokensCantBePrinted(t *testing.T) {
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, nil))
	for _, v := range []any{Login{AccessToken: secretToken}, &Login{RefreshToken: secretToken}, Validation{NewAccessToken: secretToken}, &Validation{NewAccessToken: secretToken}} {
		encoded, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("x", "v", v)
		for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v %#v %s %q %x", v, v, v, v, v), string(encoded), logged.String()} {
			if strings.Contains(text, secretToken) || !strings.Contains(text, redacted) {
				t.Errorf("printed %s", text)
			}
		}
	}
}
