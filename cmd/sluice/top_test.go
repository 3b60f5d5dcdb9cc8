package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// debugServer answers as the debug server of an engine in this process; token, when not empty, is wanted.
func debugServer(t *testing.T, token string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"uptime_ms":1000,"pid":%d,"version":"0.1.0","queue":{},"written":{"frames":7}}`, os.Getpid())
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// topFolder makes the data folder of engines at these addresses the one that is looked in.
func topFolder(t *testing.T, addresses ...string) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("SLUICE_APP_DATA_DIR", folder)
	if err := os.Mkdir(filepath.Join(folder, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, address := range addresses {
		text := fmt.Sprintf(`{"pid":%d,"addr":%q,"started":"2026-03-01T14:00:00Z","version":"0.1.0"}`, os.Getpid(), address)
		if err := os.WriteFile(filepath.Join(folder, "run", fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTopPrintsThePageOfTheOneEngine(t *testing.T) {
	topFolder(t, debugServer(t, ""))
	status, stdout, stderr := command(t, "", "top")
	if status != exitDone || stderr != "" || !strings.Contains(stdout, fmt.Sprintf("pid %d", os.Getpid())) || strings.Contains(stdout, "\x1b") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestTopListsSeveralEngines(t *testing.T) {
	first, second := debugServer(t, ""), debugServer(t, "swordfish")
	topFolder(t, first, second)
	status, stdout, stderr := command(t, "", "top", "--once")
	if status != exitUsage || stdout != "" || !strings.Contains(stderr, "sluice top "+first) || !strings.Contains(stderr, "sluice top "+second) {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if status, stdout, stderr = command(t, "", "top", "--once", first); status != exitDone || !strings.Contains(stdout, first) {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestTopFindsTheTokenInTheConfiguration(t *testing.T) {
	address := debugServer(t, "swordfish")
	topFolder(t)
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte("debug: {token: swordfish}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := command(t, "", "top", "--config", path, address); status != exitDone {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	t.Setenv("SLUICE_DEBUG_TOKEN", "swordfish")
	if status, _, stderr := command(t, "", "top", address); status != exitDone {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

// What can't be watched is one line that says what to do.
func TestTopSaysWhatIsMissing(t *testing.T) {
	topFolder(t)
	foreign := httptest.NewServer(http.NotFoundHandler())
	defer foreign.Close()
	locked := debugServer(t, "swordfish")
	for name, c := range map[string]struct {
		args   []string
		status int
		word   string
	}{
		"no engine":       {nil, exitFailed, "debug.addr: 127.0.0.1:0"},
		"nothing listens": {[]string{"127.0.0.1:1"}, exitFailed, "no engine answers at 127.0.0.1:1"},
		"something else":  {[]string{foreign.URL}, exitFailed, "no engine of Sluice"},
		"a token":         {[]string{locked}, exitFailed, "SLUICE_DEBUG_TOKEN"},
		"no address":      {[]string{"bogus"}, exitUsage, "host:port"},
		"two addresses":   {[]string{"1", "2"}, exitUsage, "at most 1"},
	} {
		status, stdout, stderr := command(t, "", append([]string{"top", "--once"}, c.args...)...)
		if status != c.status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.word) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", name, status, stdout, stderr)
		}
	}
}

func TestTopOnAFullDisk(t *testing.T) {
	address := debugServer(t, "")
	var stderr strings.Builder
	if status := run(t.Context(), []string{"top", address}, strings.NewReader(""), fullDisk{}, &stderr); status != exitFailed || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
}
