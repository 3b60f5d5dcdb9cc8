//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sluice/internal/testkit"
	"sluice/internal/testkit/secretservice"
)

const (
	personEmail    = "ann@example.com"
	personPassword = "TOPSECRET pass word"
)

// signInServer is what a gateway does of the contract when a person signs in and lists agents.
type signInServer struct {
	url string
	mu  sync.Mutex
	on  bool // somebody is signed in
}

func newSignInServer(t *testing.T) *signInServer {
	s := &signInServer{}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *signInServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := map[string]any{}
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	sum := sha256.Sum256([]byte(personPassword))
	switch r.URL.Path {
	case "/api/auth/login":
		if body["email"] != personEmail || body["password"] != hex.EncodeToString(sum[:]) {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"detail":"wrong email or password"}`)
			return
		}
		s.on = true
		io.WriteString(w, `{"success":true,"access_token":"TOPSECRET-access","refresh_token":"TOPSECRET-refresh","user_id":"7","username":"ann"}`)
	case "/api/auth/validate-token":
		fmt.Fprintf(w, `{"valid":%t,"user_id":"7","username":"ann","roles":["developer"],"permissions":["read"]}`, s.on && body["token"] == "TOPSECRET-access")
	case "/api/auth/refresh":
		io.WriteString(w, `{"success":false,"access_token":null}`)
	case "/api/auth/logout":
		s.on = false
		io.WriteString(w, `{"success":true}`)
	case "/api/agentflow/list/detail":
		if r.Header.Get("Authorization") != "Bearer TOPSECRET-access" || !s.on {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page := r.URL.Query().Get("page")
		fmt.Fprintf(w, `{"items":[{"id":%s,"workflow_id":"wf_%s","workflow_name":"Agent\u001b[31m %s","username":"ann"}],"pagination":{"page":%s,"page_size":1,"total_count":2,"total_pages":2}}`, page, page, page, page)
	}
}

func (s *signInServer) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = false
}

// person is somebody with a keyring of their own and the built program.
type person struct {
	t       *testing.T
	dir     string
	environ []string
	said    bytes.Buffer // all that was printed
}

func newPerson(t *testing.T, keyring *secretservice.Service) *person {
	p := &person{t: t, dir: t.TempDir()}
	p.environ = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "DEX_CLI_HOME=" + filepath.Join(p.dir, "dex"), "NO_PROXY=127.0.0.1"}, keyring.Environ...)
	return p
}

func (p *person) command(args ...string) *exec.Cmd {
	cmd := exec.Command(built(p.t), args...)
	cmd.Dir, cmd.Env = p.dir, p.environ
	return cmd
}

// want runs a command and compares its exit status, and a part of what it prints.
func (p *person) want(status int, said, stdin string, args ...string) {
	p.t.Helper()
	cmd := p.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	p.said.Write(out)
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(string(out), said) {
		p.t.Errorf("%q: status %d, %q; want %d and %q", args, got, out, status, said)
	}
}

// wantNoSecret looks through all that was printed and all files.
func (p *person) wantNoSecret() {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		p.said.Write(text)
		return err
	})
	sum := sha256.Sum256([]byte(personPassword))
	if text := p.said.String(); err != nil || strings.Contains(text, "TOPSECRET") || strings.Contains(text, hex.EncodeToString(sum[:])) {
		p.t.Errorf("%v; a secret in %s", err, text)
	}
}

func TestPeopleSignIn(t *testing.T) {
	t.Parallel()
	keyring, gateway := secretservice.Start(t), newSignInServer(t)
	p := newPerson(t, keyring)
	const account = "profile:default"
	p.want(exitUsage, "sluice profile set", personPassword, "login", "--password-stdin", personEmail)
	p.want(exitFailed, "wrong email or password", "TOPSECRET wrong", "login", "--server", gateway.url, "--password-stdin", personEmail)
	p.want(exitFailed, "nobody is signed in", "", "status")
	p.want(exitDone, "signed in as ann at default ("+gateway.url+")\n", personPassword+"\n", "login", "--password-stdin", personEmail)
	var session map[string]string
	if text, _ := keyring.Stored("xgen-dex-cli", account); json.Unmarshal([]byte(text), &session) != nil || session["accessToken"] != "TOPSECRET-access" || session["serverUrl"] != gateway.url {
		t.Errorf("the keyring holds %q", text)
	}
	p.want(exitDone, "signed in as ann\nroles: developer\npermissions: read\n", "", "status")
	p.want(exitDone, `"user":{"userId":"7","username":"ann","isSuperuser":false,"roles":["developer"],"permissions":["read"]}`, "", "status", "--json")
	p.want(exitDone, "wf_2   Agent 2  canvas  ann", "", "agents")
	p.want(exitDone, `"workflowId":"wf_2"`, "", "agents", "--json")
	gateway.end()
	p.want(exitFailed, "ended the session", "", "status")
	p.want(exitFailed, "sluice login", "", "agents")
	p.want(exitDone, "signed out", "", "logout")
	if _, found := keyring.Stored("xgen-dex-cli", account); found {
		t.Error("the session is still in the keyring")
	}
	p.want(exitFailed, `"reason":"missing_session"`, "", "status", "--json")
	p.want(exitFailed, "sluice login", "", "agents")
	keyring.Lock()
	p.want(exitFailed, "unlocked", personPassword, "login", "--password-stdin", personEmail)
	p.wantNoSecret()
}

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestPasswordIsNotEchoed(t *testing.T) {
	t.Parallel()
	keyring, gateway := secretservice.Start(t), newSignInServer(t)
	for name, c := range map[string]struct {
		typed  string
		status int
		said   string
	}{
		"a password": {personPassword + "\n", exitDone, "signed in as ann"},
		"control-c":  {"\x03", exitFailed, "interrupted"},
		"nothing":    {"\n", exitUsage, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			keyboard, terminal := openTerminal(t)
			p := newPerson(t, keyring)
			cmd := p.command("login", "--server", gateway.url, personEmail)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() }) // should it not end by itself
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				cmd.Wait()
			}()
			testkit.Until(t, "the terminal stops its echo", func() bool { return !echoes(t, terminal) })
			if _, err := keyboard.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, "the command ends", func() bool {
				select {
				case <-ended:
					return true
				default:
					return false
				}
			})
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Errorf("exit status %d, want %d", got, c.status)
			}
			if !echoes(t, terminal) {
				t.Error("the terminal is left without echo")
			}
			terminal.Close()
			shown, _ := io.ReadAll(keyboard) // ends with an error when nobody has the other end
			if !strings.Contains(string(shown), "Password for "+gateway.url) || !strings.Contains(string(shown), c.said) {
				t.Errorf("shown is %q", shown)
			}
			p.said.Write(shown)
			p.wantNoSecret()
		})
	}
}
