package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit"
)

// printed is a value as a careless line of code would show it.
func printed(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
		fmt.Fprintf(&out, verb+"\n", value)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", value)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", value)
	if text, err := json.Marshal(value); err == nil { // what can't be encoded shows nothing either
		out.Write(text)
	}
	return out.String()
}

func TestNothingPrintsASecret(t *testing.T) {
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
	p.mu.Lock()
	for key, renewal := range p.renewals {
		wantNoSecret(t, "a renewal", printed(t, key)+printed(t, renewal)+printed(t, *renewal))
	}
	p.mu.Unlock()
	close(w.gateway.hold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stored := tokens{serverURL: server, access: "SECRET-a", refresh: "SECRET-r"}
	login := Login{Access: "SECRET-a", Refresh: "SECRET-r"}
	validation := Validation{NewAccess: "SECRET-a"}
	for _, value := range []any{stored, &stored, login, &login, validation, &validation, []tokens{stored}, s} {
		wantNoSecret(t, fmt.Sprintf("%T", value), printed(t, value))
	}
}

func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	// 534543524554 is SECRET in hexadecimal.
	if strings.Contains(text, "SECRET") || strings.Contains(strings.ToUpper(text), "534543524554") {
		t.Errorf("a secret in %s: %s", where, text)
	}
}

func TestAWholeSessionTellsNothing(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	s := w.session(p)
	var said []string
	note := func(value any, err error) { said = append(said, fmt.Sprintf("%+v %v", value, err)) }
	status := func() { got, err := status(p, ""); note(got, err) }
	login := func(password string) { got, err := login(p, "", password); note(got, err) }
	refreshed := func() { _, err := s.Refreshed(nothing, "SECRET-access-1"); note(nil, err) }

	login(password + "x")
	w.gateway.expire(false)
	refreshed()
	status()
	w.gateway.expire(true)
	refreshed()
	status()
	w.keychain.fail(nil, errors.New("full"))
	login(password)
	w.keychain.fail(errors.New("locked"), nil)
	login(password)
	status()
	w.set(p, "corp", "https://other.example.com")
	w.keychain.fail(nil, nil)
	w.set(p, "corp", server)
	login(password)
	w.gateway.down = true
	status()
	note(nil, logout(p, ""))
	login(password)

	wantNoSecret(t, "an answer", strings.Join(said, "\n"))
	wantNoSecret(t, "the log", w.logged.String())
	if w.logged.String() == "" {
		t.Error("nothing was logged: the test looks at nothing")
	}
	err := filepath.WalkDir(filepath.Dir(w.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		wantNoSecret(t, path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
