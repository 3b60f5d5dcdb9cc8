package keychain

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit/secretservice"
)

// ask runs a call of the real keychain in a process of its own.
func ask(t *testing.T, environ []string, args ...string) (a answer) {
	t.Helper()
	return askFor(t, time.Minute, environ, args...)
}

func askFor(t *testing.T, timeout time.Duration, environ []string, args ...string) (a answer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append([]string{childVariable + "=" + timeout.String(), "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, environ...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v: %v: %q", args, err, out)
	}
	return a
}

func TestSecretService(t *testing.T) {
	service := secretservice.Start(t)
	const account = "profile:corp"
	if a := ask(t, service.Environ, "get", account); a != (answer{}) {
		t.Fatalf("an empty keyring answers %+v", a)
	}
	long := strings.Repeat("token ", 5000)
	for _, value := range []string{`{"accessToken":"a"}`, long, "안녕"} {
		if a := ask(t, service.Environ, "set", account, value); a.Error != "" {
			t.Fatal(a.Error)
		}
		if stored, found := service.Stored(Service, account); !found || stored != value {
			t.Fatalf("the keyring holds %.40q", stored)
		}
		if a := ask(t, service.Environ, "get", account); a != (answer{value, true, ""}) {
			t.Fatalf("another process reads %.80v", a)
		}
	}
	for range 2 {
		if a := ask(t, service.Environ, "delete", account); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	if stored, found := service.Stored(Service, account); found {
		t.Fatalf("the keyring still holds %q", stored)
	}
}

func TestLockedKeyring(t *testing.T) {
	service := secretservice.Start(t)
	service.Lock()
	wantUnavailable(t, service.Environ)
}

func TestNoSecretService(t *testing.T) {
	for name, environ := range map[string][]string{
		"no bus there":  {"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus"},
		"a bad address": {"DBUS_SESSION_BUS_ADDRESS=nonsense"},
	} {
		t.Run(name, func(t *testing.T) { wantUnavailable(t, environ) })
	}
}

func wantUnavailable(t *testing.T, environ []string) {
	t.Helper()
	for _, args := range [][]string{{"get", "profile:x"}, {"set", "profile:x", "SECRET"}, {"delete", "profile:x"}} {
		a := ask(t, environ, args...)
		if !strings.Contains(a.Error, advice) || strings.Contains(a.Error, "SECRET") || a.Found {
			t.Errorf("%v: %+v", args, a)
		}
	}
}

func TestSilentBus(t *testing.T) {
	bus := filepath.Join(t.TempDir(), "bus")
	listener, err := net.Listen("unix", bus) // takes connections, and answers none
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a := askFor(t, 100*time.Millisecond, []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + bus}, "get", "profile:x")
	if !strings.Contains(a.Error, unlockAdvice) || a.Found {
		t.Errorf("%+v", a)
	}
}

func TestBusIsNeverStarted(t *testing.T) {
	folder := t.TempDir()
	for _, address := range []string{"", "autolaunch:"} { // with both the library would call dbus-launch
		if err := busNamed(address, folder); !errors.Is(err, errNoBus) {
			t.Errorf("%q: %v, want that no bus is named", address, err)
		}
	}
	if err := busNamed("unix:path=/x", folder); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := busNamed("", folder); err != nil {
		t.Errorf("a bus in the runtime folder: %v", err)
	}
}

// TestKind finds the keychain without opening it, locked or not, and says why there is none.
func TestKind(t *testing.T) {
	service := secretservice.Start(t)
	service.Lock()
	for _, c := range []struct {
		environ []string
		want    answer
	}{
		{service.Environ, answer{Value: "a Secret Service"}},
		{[]string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"}, answer{Error: "the session bus can't be reached"}},
	} {
		got := ask(t, c.environ, "kind")
		if got.Value != c.want.Value || !strings.HasPrefix(got.Error, c.want.Error) || (got.Error == "") != (c.want.Error == "") {
			t.Errorf("%v: got %+v", c.environ, got)
		}
	}
}
