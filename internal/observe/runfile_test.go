package observe

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// deadPID is the number of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// TestRunFile lives as long as the endpoint, and takes what dead engines left away.
func TestRunFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	folder := filepath.Join(dir, runFolder)
	stale := strconv.Itoa(deadPID(t)) + ".json"
	others := []string{"notes.txt", strconv.Itoa(os.Getppid()) + ".json"}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{stale, stale + ".new"}, others...) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-time.Second)
	var f runFile
	if err := f.write(dir, "127.0.0.1:7", "1.2.3"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(os.Getpid())+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var got Running
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.PID != os.Getpid() || got.Addr != "127.0.0.1:7" || got.Version != "1.2.3" || got.Started.Before(before) || got.Started.After(time.Now()) {
		t.Errorf("got %s", text)
	}
	wantMode(t, f.path, 0o600)
	wantMode(t, folder, 0o700)
	if n := count(t, folder); n != 3 {
		t.Errorf("the folder holds %d files", n)
	}
	f.remove()
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	if n := count(t, folder); n != 2 {
		t.Errorf("the folder holds %d files in the end", n)
	}
}

// TestEndpointWithoutAFile serves all the same.
func TestEndpointWithoutAFile(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var f runFile
	if err := f.write(blocked, "127.0.0.1:7", ""); err == nil || f.path != "" {
		t.Errorf("got %v, %q", err, f.path)
	}
	f.remove()
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want {
		t.Errorf("%s has mode %o", path, got)
	}
}

func count(t *testing.T, folder string) int {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
