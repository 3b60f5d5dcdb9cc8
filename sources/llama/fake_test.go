//go:build unix

package llama

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// fake says how a llama-server misbehaves. It stands in for the real one where a fault is needed.
type fake struct {
	Folder     string // where it writes a file for each start, and looks for the files loaded and broken
	Gated      bool   // loads until the file loaded exists
	Breakable  bool   // exits with status 3 while it starts, as long as the file broken exists
	Deaf       bool   // doesn't listen
	AnyKey     bool   // takes any key
	DropKey    bool   // the wrapper drops the key
	IgnoreTerm bool
	Flood      int  // lines that it prints before it listens
	Grandchild bool // leaves a child in a session of its own
	Slots      int
}

func init() { programs["llama-server"], programs["engine"] = runFake, runEngine }

// runFake is the fake's main: args are its options and the arguments of llama-server.
func runFake(args []string) int {
	var f fake
	if err := json.Unmarshal([]byte(args[0]), &f); err != nil {
		return 90
	}
	args = args[1:]
	note(f.Folder, "argv", strings.Join(args, "\n"))
	note(f.Folder, "env", strings.Join(os.Environ(), "\n"))
	note(f.Folder, fmt.Sprintf("start-%d", time.Now().UnixNano()), strconv.Itoa(os.Getpid()))
	if f.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	for n := range f.Flood {
		fmt.Fprintf(os.Stderr, "flood %d %s\n", n, strings.Repeat("x", 1000))
	}
	fmt.Fprintln(os.Stderr, "my key is", os.Getenv(envKey))
	if f.Grandchild {
		grandchild := exec.Command("sleep", "1000")
		grandchild.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if grandchild.Start() != nil {
			return 91
		}
		note(f.Folder, "grandchild", strconv.Itoa(grandchild.Process.Pid))
	}
	if f.Breakable && has(f.Folder, "broken") {
		fmt.Fprintln(os.Stderr, "out of memory")
		return 3
	}
	if f.Deaf {
		select {}
	}
	return f.serve(args)
}

func (f fake) serve(args []string) int {
	listener, err := net.Listen("unix", args[slices.Index(args, "--host")+1])
	if err != nil {
		return 92
	}
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) {
		fmt.Fprintln(os.Stderr, "about to crash")
		syscall.Exit(9)
	})
	mux.HandleFunc("/props", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"total_slots":%d,"default_generation_settings":{"n_ctx":1024}}`, f.Slots)
	})
	mux.HandleFunc("/slots", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `[{"is_processing":false},{"is_processing":%t}]`, asked.Add(1) < 3)
	})
	key := "Bearer " + os.Getenv(envKey)
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case f.Gated && !has(f.Folder, "loaded"):
			http.Error(w, `{"error":{"message":"Loading model"}}`, http.StatusServiceUnavailable)
		case r.URL.Path != "/health" && !f.AnyKey && r.Header.Get("Authorization") != key:
			http.Error(w, `{"error":{"message":"Invalid API Key"}}`, http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	return 93
}

// note writes a file in whole.
func note(folder, name, text string) {
	part := filepath.Join(folder, "."+name)
	_ = os.WriteFile(part, []byte(text), 0o600)
	_ = os.Rename(part, filepath.Join(folder, name))
}

func has(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// options returns how to spawn the fake behind a wrapper script, as people do.
func (f *fake) options(t *testing.T) ServerOptions {
	t.Helper()
	f.Folder = t.TempDir()
	if f.Slots == 0 {
		f.Slots = 4
	}
	encoded, _ := json.Marshal(f)
	drop := ""
	if f.DropKey {
		drop = "unset " + envKey
	}
	script := fmt.Sprintf("#!/bin/sh\n%s\n'%s' llama-server '%s' \"$@\"\nexit $?\n", drop, os.Args[0], encoded)
	binary, model := filepath.Join(f.Folder, "llama-server"), filepath.Join(f.Folder, "model.gguf")
	if os.WriteFile(binary, []byte(script), 0o700) != nil || os.WriteFile(model, []byte("GGUF\x03"), 0o600) != nil {
		t.Fatal("the folder can't be written to")
	}
	return ServerOptions{Binary: binary, ModelPath: model, StopTimeout: 200 * time.Millisecond}
}

// pids returns the ids of all fakes that started, in order.
func (f *fake) pids() (pids []int) {
	files, _ := filepath.Glob(filepath.Join(f.Folder, "start-*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(string(text))
		pids = append(pids, pid)
	}
	return pids
}

// runs reports whether a process exists and is no zombie.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}
