//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// real is a folder with a real llama-server in it, which notes how it was started. Everything that
// runs from there has the folder's path among its arguments.
type real struct {
	t   *testing.T
	dir string
}

// passed answers what the engine asks the program before a start; that is no start.
const passed = `case "$1" in --help|--version|--list-devices) exec 'SERVER' "$@";; esac
`

// recorded is the script that starts the server: it notes its arguments, environment, socket, key and
// process id.
const recorded = `#!/bin/sh
` + passed + `printf '%s\n' "$@" > DIR/argv
printf '%s\n' "$LLAMA_API_KEY" > DIR/key
printf '%s\n' "$4" > DIR/socket
env > DIR/env
echo $$ >> DIR/pids
exec SERVER "$@"
`

// newReal needs a real llama-server.
func newReal(t *testing.T) *real {
	t.Helper()
	server, model := os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL")
	if server == "" || model == "" {
		t.Skip("LLAMA_SERVER is not set: make test builds llama-server and sets it")
	}
	// The path of a socket must be short: t.TempDir has the test's name in it.
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &real{t, dir}
	for name, target := range map[string]string{"model.gguf": model, "real-server": server} {
		if err := os.Symlink(target, r.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	r.script(recorded)
	return r
}

func (r *real) path(name string) string { return filepath.Join(r.dir, name) }

// script replaces the program that the engine starts. DIR is the folder and SERVER the real server.
func (r *real) script(text string) {
	text = strings.ReplaceAll(text, "SERVER", r.path("real-server"))
	write(r.t, r.path("llama-server"), strings.ReplaceAll(text, "DIR", r.dir))
}

// endless makes the model talk until its context is full; quick spares what a test needs not.
const (
	quick   = `"-t", "1", "--no-warmup"`
	endless = `"--ignore-eos", ` + quick
)

// start starts an engine that spawns the server with these arguments.
func (r *real) start(args, config string, o host.Options) *host.Engine {
	r.t.Helper()
	o.Dir = r.dir
	o.Env = append(o.Env, "TMPDIR="+r.dir)
	return spawn(r.t, "llama_server: {binary: ./llama-server, args: ["+args+"]}\n"+config, o)
}

// one is a model of two slots.
const one = "models: [{path: model.gguf, ctx_size: 8192, parallel: 2}]\n"

// pids are the process ids of the servers that were started.
func (r *real) pids() (pids []int) {
	text, _ := os.ReadFile(r.path("pids"))
	for _, field := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(field)
		pids = append(pids, pid)
	}
	return pids
}

// left lists the processes that run from the folder.
func (r *real) left() (left []string) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,stat=,args=").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); strings.Contains(line, r.dir) && !strings.HasPrefix(fields[1], "Z") {
			left = append(left, strings.TrimSpace(line))
		}
	}
	return left
}

// wantNothingLeft waits until neither server, wrapper, guardian nor socket folder is left.
func (r *real) wantNothingLeft(guardian int) {
	r.t.Helper()
	testkit.Until(r.t, "no process is left", func() bool { return len(r.left()) == 0 })
	testkit.Until(r.t, "the guardian is gone", func() bool { return !runs(guardian) })
	testkit.Until(r.t, "the socket's folder is gone", func() bool {
		folders, _ := filepath.Glob(r.path("sluice-*"))
		return len(folders) == 0
	})
}

// runs reports whether a process exists and is no zombie.
func runs(pid int) bool {
	stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(stat), "Z")
}

// guardianOf returns the process id of an engine's guardian.
func guardianOf(t *testing.T, engine int) (guardian int) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "ppid=,pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if fields[0] == strconv.Itoa(engine) && fields[len(fields)-1] == guardianArgument {
			guardian, _ = strconv.Atoi(fields[1])
		}
	}
	if guardian == 0 {
		t.Fatal("there is no guardian")
	}
	return guardian
}

// groupOf returns a process's group.
func groupOf(t *testing.T, pid int) int {
	t.Helper()
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// ask asks a route of the spawned server, with its key.
func (r *real) ask(route string) (string, error) {
	socket, _ := os.ReadFile(r.path("socket"))
	key, _ := os.ReadFile(r.path("key"))
	return get("http://llama"+route, strings.TrimSpace(string(socket)), strings.TrimSpace(string(key)))
}

// get asks a URL, over a Unix socket when one is named.
func get(url, socket, key string) (string, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
	}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %s", response.StatusCode, text)
	}
	return string(text), err
}

// busy is how many slots of the spawned server work, -1 when it doesn't answer.
func (r *real) busy() int {
	text, err := r.ask("/slots")
	if err != nil {
		return -1
	}
	return strings.Count(text, `"is_processing":true`)
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// wantText holds a chat of the real model to itself: what was streamed is what the result tells.
func wantText(t *testing.T, e *host.Engine, id string) host.Message {
	t.Helper()
	result := e.Result(id)
	if text := result.Get("response").String(); text == "" || text != e.Text(id) {
		t.Errorf("%s: the response is %.200q, the chunks are %.200q", id, text, e.Text(id))
	}
	return result
}
