package profile

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/internal/wire"
)

var nothing = context.Background()

const (
	email    = "ann@example.com"
	password = "SECRET-password"
)

var (
	errNetwork = wire.NewFault(wire.CodeNetwork, "the gateway can't be reached")
	errRefused = wire.NewFault(wire.CodeAuthInvalid, "refused for the test")
	ann        = wire.AuthUser{UserID: "123", Username: "ann", Roles: []string{"developer"}, Permissions: []string{"main.agentflow:read"}}
)

// world is a user with a keychain, a gateway and a folder. Engines are made by its engine.
type world struct {
	t        *testing.T
	dir      string
	keychain *fakeKeychain
	gateway  *fakeGateway
	logged   lockedBuffer
}

// lockedBuffer takes the log lines of several engines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newWorld(t *testing.T) *world {
	return &world{t: t, dir: filepath.Join(t.TempDir(), "home", "dex"), keychain: &fakeKeychain{entries: map[string]string{}}, gateway: &fakeGateway{}}
}

// engine returns the profiles as one more engine sees them.
func (w *world) engine() *Profiles { return w.engineWith(Options{}) }

func (w *world) engineWith(o Options) *Profiles {
	o.Dir, o.Gateway, o.Keychain = w.dir, w.gateway, w.keychain
	o.Logger = slog.New(slog.NewTextHandler(&w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p := New(o)
	w.t.Cleanup(p.Close)
	return p
}

const server = "https://xgen.example.com"

// signedIn returns an engine with the profile corp and a session at it.
func (w *world) signedIn() *Profiles {
	w.t.Helper()
	p := w.engine()
	w.set(p, "corp", server)
	if status, err := login(p, "", password); err != nil || !status.Authenticated {
		w.t.Fatalf("Login = %+v, %v", status, err)
	}
	return p
}

func (w *world) set(p *Profiles, name, url string) wire.Profile {
	w.t.Helper()
	set, err := p.Set(nothing, name, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return set
}

func (w *world) file() string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, fileName))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *world) write(text string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(w.dir, 0o700), os.WriteFile(filepath.Join(w.dir, fileName), []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

// others are the names of the folder's files beside config.json and the locks.
func (w *world) others() (names []string) {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != fileName && !strings.HasSuffix(name, ".lock") {
			names = append(names, name)
		}
	}
	return names
}

func wantCode(t *testing.T, err error, code wire.Code) {
	t.Helper()
	if codeOf(err) != code {
		t.Errorf("the error is %v, want %s", err, code)
	}
}

// corp is the profile that the tests set.
var corp = wire.Profile{Name: "corp", ServerURL: server, Current: true}

// login, status and logout do it at the profile of a name.
func login(p *Profiles, name, password string) (wire.AuthStatus, error) {
	profile, err := p.Resolve(name)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	return p.Login(nothing, profile, email, password, nil)
}

func status(p *Profiles, name string) (wire.AuthStatus, error) {
	profile, err := p.Resolve(name)
	if err != nil {
		return wire.AuthStatus{}, err
	}
	return p.Status(nothing, profile)
}

func logout(p *Profiles, name string) error {
	profile, err := p.Resolve(name)
	if err != nil {
		return err
	}
	return p.Logout(nothing, profile, nil)
}
