//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// built returns the path of the built program.
func built(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// spawn starts `serve-stdio` with a configuration, which lies in a folder of its own.
func spawn(t *testing.T, config string, o host.Options) *host.Engine {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	write(t, filepath.Join(o.Dir, "config.yaml"), config)
	if o.Path == "" {
		o.Path = built(t)
	}
	if o.Args == nil {
		o.Args = []string{"serve-stdio"}
	}
	return host.Start(t, o)
}

// attached starts an engine that is attached to a fake llama-server.
func attached(t *testing.T, config string, o host.Options) (*host.Engine, *fakellama.Server) {
	t.Helper()
	server := fakellama.Start(t, fakellama.Options{})
	return spawn(t, "llama_server: {url: '"+server.URL+"'}\n"+config, o), server
}

// write writes a file that can be run. No process is begun meanwhile: it would hold the file open until it
// has become another program, and a program that is open for writing can't be started ("text file busy").
func write(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// wantExit waits for the engine's end.
func wantExit(t *testing.T, e *host.Engine, want int) {
	t.Helper()
	if got := e.Exit(); got != want {
		t.Errorf("exit status %d, want %d; stderr: %s", got, want, e.Stderr())
	}
}

// wantWhole holds a chat's result and its events to the whole answer.
func wantWhole(t *testing.T, e *host.Engine, id, want string) host.Message {
	t.Helper()
	result := e.Result(id)
	if got := result.Get("response").String(); got != want {
		t.Errorf("%s: the response has %d bytes, want %d: %.80q", id, len(got), len(want), got)
	}
	if got := e.Text(id); got != want {
		t.Errorf("%s: the chunks have %d bytes, want %d: %.80q", id, len(got), len(want), got)
	}
	if n := result.Get("events.dropped").Int(); n != 0 {
		t.Errorf("%s: %d events were dropped", id, n)
	}
	return result
}

// wantAlive says that the engine still serves.
func wantAlive(t *testing.T, e *host.Engine) {
	t.Helper()
	id := fmt.Sprintf("alive-%d", len(e.Messages()))
	if got := e.Call(id, "ping", nil).Get("result.status").Str; got != "ok" {
		t.Errorf("ping got %q", got)
	}
}

// residentMiB is how much memory a process uses.
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// numbered is the i-th of a row of names.
func numbered(name string, i int) string { return name + strconv.Itoa(i) }
