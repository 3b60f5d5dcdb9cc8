// Package secretservice starts a real Secret Service for a test: gnome-keyring on a session bus of its
// own, in a folder of its own, unlocked with a random password that nobody types.
//
// Concurrency law: a Service is used by its test's goroutine. Start makes two processes, the bus and the
// keyring; the test's cleanup ends both.
package secretservice

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit"
)

// configuration of a bus that starts no services by itself: a second keyring that it started would be
// locked, and could win the name.
const configuration = `<busconfig><type>session</type><listen>unix:tmpdir=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// The login collection, which is what libraries store in.
const collection = "/org/freedesktop/secrets/collection/login"

// Service is a running Secret Service.
type Service struct {
	// Environ are the variables by which a process finds it.
	Environ []string
	t       *testing.T
	full    []string
}

// Start starts a Secret Service and waits until it takes a secret. Its programs are Debian's packages
// dbus, gnome-keyring and libsecret-tools; a test without them fails.
func Start(t *testing.T) *Service {
	t.Helper()
	dir, err := os.MkdirTemp("", "keyring-") // short, since a socket's path is; t.TempDir's is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Service{t: t, full: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_DATA_HOME=" + filepath.Join(dir, "data"), "LANG=C.UTF-8"}}
	s.Environ = []string{"XDG_RUNTIME_DIR=" + dir, "DBUS_SESSION_BUS_ADDRESS=" + s.startBus(dir)}
	s.full = append(s.full, s.Environ...)
	s.start(s.command("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"))
	testkit.Until(t, "the Secret Service takes a secret", func() bool {
		probe := s.command("secret-tool", "store", "--label=probe", "probe", "1")
		probe.Stdin = strings.NewReader("x")
		return probe.Run() == nil
	})
	return s
}

// startBus returns the address of a new session bus.
func (s *Service) startBus(dir string) string {
	s.t.Helper()
	path := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, configuration, dir), 0o600); err != nil {
		s.t.Fatal(err)
	}
	bus := s.command("dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file="+path)
	out, err := bus.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.start(bus)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal("dbus-daemon printed no address: ", err)
	}
	return strings.TrimSpace(address)
}

func (s *Service) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.full
	cmd.Stdin = strings.NewReader(rand.Text()) // what gnome-keyring-daemon takes for its password
	return cmd
}

// start starts a program that the test's cleanup ends.
func (s *Service) start(cmd *exec.Cmd) {
	s.t.Helper()
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("%v: these tests need Debian's packages dbus, gnome-keyring and libsecret-tools, which .ci/tools installs", err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// Lock locks the keyring. Nobody is there to unlock it: the bus has no program that could ask.
func (s *Service) Lock() {
	s.t.Helper()
	out, err := s.command("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
		"org.freedesktop.Secret.Service.Lock", "array:objpath:"+collection).CombinedOutput()
	if err != nil {
		s.t.Fatalf("lock: %v: %s", err, out)
	}
}

// Stored returns the secret that go-keyring stores for a service and a user, found false for none.
func (s *Service) Stored(service, user string) (secret string, found bool) {
	s.t.Helper()
	lookup := s.command("secret-tool", "lookup", "service", service, "username", user)
	var complaint bytes.Buffer
	lookup.Stderr = &complaint
	out, err := lookup.Output()
	if complaint.Len() > 0 {
		s.t.Fatalf("secret-tool lookup: %v: %s", err, complaint.String())
	}
	return string(out), err == nil && len(out) > 0
}
