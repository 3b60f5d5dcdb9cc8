package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// ownProfiles gives the commands of a test a folder of their own, in which nothing is set.
func ownProfiles(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "dex")
	t.Setenv("DEX_CLI_HOME", dir)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus") // no test looks into a real keyring
	return dir
}

// wantCommand runs a command and compares what it prints and returns. said is a part of stdout where that is
// printed, else of stderr.
func wantCommand(t *testing.T, want int, said string, args ...string) {
	t.Helper()
	status, stdout, stderr := command(t, "", args...)
	text := stdout
	if stdout == "" {
		text = stderr
	}
	if status != want || !strings.Contains(text, said) || strings.Contains(stdout+stderr, "TOPSECRET") {
		t.Errorf("%q: status %d, stdout %q, stderr %q; want %d and %q", args, status, stdout, stderr, want, said)
	}
}

func TestProfileCommands(t *testing.T) {
	dir := ownProfiles(t)
	wantCommand(t, exitDone, "no profile is set", "profile", "list")
	wantCommand(t, exitDone, "corp is https://xgen.example.com, the current profile\n", "profile", "set", "corp", "xgen.example.com/")
	wantCommand(t, exitDone, "lab is http://localhost:8000\n", "profile", "set", "lab", "localhost:8000")
	wantCommand(t, exitDone, "lab is http://localhost:8000, the current profile\n", "profile", "use", "lab")
	wantCommand(t, exitDone, "local is local:, the current profile\n", "profile", "use", "local")
	wantCommand(t, exitDone, "*        local    local:", "profile", "list")
	_, stdout, _ := command(t, "", "profile", "list", "--json")
	var got []map[string]any
	want := []map[string]any{
		{"name": "corp", "serverUrl": "https://xgen.example.com", "current": false},
		{"name": "lab", "serverUrl": "http://localhost:8000", "current": false},
		{"name": "local", "serverUrl": "local:", "current": true},
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("list --json prints %s, %v", stdout, err)
	}
	for _, c := range []struct {
		status int
		said   string
		args   []string
	}{
		{exitFailed, "sluice profile list shows", []string{"profile", "use", "nobody"}},
		{exitUsage, "reserved", []string{"profile", "set", "local", "https://x"}},
		{exitUsage, "letters", []string{"profile", "set", "a/b", "https://x"}},
		{exitUsage, "user name or password", []string{"profile", "set", "x", "https://u:TOPSECRET@x"}},
		{exitUsage, "query", []string{"profile", "set", "x", "https://x?TOPSECRET"}},
		{exitUsage, "arg", []string{"profile", "set", "x"}},
	} {
		wantCommand(t, c.status, c.said, c.args...)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCommand(t, exitUsage, "damaged", "profile", "list")
}

func TestLocalProfileOfPeople(t *testing.T) {
	ownProfiles(t)
	wantCommand(t, exitUsage, "no profile is set", "status")
	wantCommand(t, exitFailed, "there is no configuration", "agents", "--profile", "local")
	t.Setenv("SLUICE_LLAMA_SERVER_URL", "http://127.0.0.1:1") // a configuration
	wantCommand(t, exitDone, "need no sign-in", "status")
	wantCommand(t, exitDone, `{"profile":"local","serverUrl":"local:","authenticated":true}`, "status", "--json")
	wantCommand(t, exitUsage, "needs no sign-in", "login", "--password-stdin", "ann@example.com")
	wantCommand(t, exitDone, "signed out", "logout")
	wantCommand(t, exitDone, `"workflowId":"assistant","workflowName":"assistant"`, "agents", "--json")
	wantCommand(t, exitDone, "assistant  local", "agents", "--search", "ASSIST")
	wantCommand(t, exitDone, "no such agents", "agents", "--search", "nobody")
	wantCommand(t, exitUsage, "personal or shared", "agents", "--owner", "everyone")
}

func TestPasswordIsNoArgument(t *testing.T) {
	ownProfiles(t)
	wantCommand(t, exitDone, "corp is", "profile", "set", "corp", "http://127.0.0.1:1")
	for _, args := range [][]string{
		{"login", "ann@example.com", "TOPSECRET"}, {"login", "--password=TOPSECRET", "ann@example.com"}, {"login", "--password-stdin=TOPSECRET", "ann@example.com"},
		{"login"}, {"login", "ann@example.com"}, {"login", "--password-stdin", "ann@example.com"},
	} {
		wantCommand(t, exitUsage, "", args...)
	}
	for input, said := range map[string]string{"\nTOPSECRET": "empty", strings.Repeat("TOPSECRET", 1000): "too long", "TOPSECRET\r\n": "keychain"} {
		_, stdout, stderr := command(t, input, "login", "--password-stdin", "ann@example.com")
		if !strings.Contains(stderr, said) || stdout != "" || strings.Contains(stderr, "TOPSECRET") {
			t.Errorf("stdout %q, stderr %q, want a word on %q", stdout, stderr, said)
		}
	}
}

func TestWhereALoginGoes(t *testing.T) {
	ownProfiles(t)
	a := newAccounts(accountOptions{})
	defer a.close()
	for _, c := range []struct{ name, server, want, address string }{
		{"", "xgen.example.com", "default", "https://xgen.example.com"},
		{"corp", "xgen.example.com", "corp", "https://xgen.example.com"},
	} {
		if got, err := loginTarget(a, c.name, c.server); err != nil || got.Name != c.want || got.ServerURL != c.address {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	wantCommand(t, exitDone, "corp is", "profile", "set", "corp", "xgen.example.com")
	if got, err := loginTarget(a, "", "https://xgen.example.com/"); err != nil || got.Name != "corp" {
		t.Errorf("a known server is %+v, %v", got, err)
	}
	if got, err := loginTarget(a, "", "https://other.example.com/"); err == nil {
		t.Errorf("another server without a name is %+v", got)
	}
	if _, err := loginTarget(a, "nobody", ""); err == nil {
		t.Error("an unknown profile was found")
	}
}
