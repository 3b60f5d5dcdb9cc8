//go:build unix

package llama

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func TestACrashIsExplainedAndTheNextChatStartsAgain(t *testing.T) {
	f := fake{Flood: 300}
	s := newServer(t, f.options(t))
	for n := 1; n <= 2; n++ {
		lease := acquire(t, s)
		_, _, err := lease.get(t.Context(), "/crash", lease.Key, 1)
		if err == nil {
			t.Fatal("no crash")
		}
		fault := lease.Describe(err)
		wantFault(t, fault, wire.CodeInternal, "exit status 9", "about to crash", "flood 299", "[redacted]")
		if strings.Contains(fault.Message, lease.Key) || len(fault.Message) > excerptBytes+1000 {
			t.Errorf("the key is in the message, or it is too long (%d bytes)", len(fault.Message))
		}
		lease.Release()
		if got := len(f.pids()); got != n {
			t.Errorf("%d starts, want %d", got, n)
		}
	}
}

func TestAKilledServerIsExplained(t *testing.T) {
	var f fake
	s := newServer(t, f.options(t))
	lease := acquire(t, s)
	if err := syscall.Kill(lease.instance.child.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantFault(t, lease.Describe(fmt.Errorf("EOF")), wire.CodeInternal, "signal: killed", "memory")
	if runs(f.pids()[0]) {
		t.Error("the server outlived its wrapper")
	}
	lease.Release()
}

func TestWhoWaitsForASlotOutlivesACrash(t *testing.T) {
	f := fake{Slots: 1}
	s := newServer(t, f.options(t))
	first := acquire(t, s)
	defer first.Release()
	var phases []Phase
	second, err := s.Acquire(t.Context(), func(phase Phase) {
		phases = append(phases, phase)
		if phase == PhaseQueue {
			first.instance.child.Kill()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	if len(f.pids()) != 2 || second.Load <= 0 || !slices.Equal(phases[:2], []Phase{PhaseQueue, PhaseServerStart}) {
		t.Errorf("%d starts, load %s, phases %q", len(f.pids()), second.Load, phases)
	}
}

func TestAFailedStartIsExplainedAndDelaysTheNext(t *testing.T) {
	f := fake{Breakable: true}
	o := f.options(t)
	note(f.Folder, "broken", "")
	s := newServer(t, o)
	_, err := s.Acquire(t.Context(), nil)
	wantFault(t, err, wire.CodeInternal, "exit status 3", "out of memory")
	if err := os.Remove(filepath.Join(f.Folder, "broken")); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	delay, due := s.delay, s.failedAt.Add(s.delay)
	s.mu.Unlock()
	if delay != firstRetry {
		t.Errorf("delay %s", delay)
	}
	lease := acquire(t, s)
	if time.Now().Before(due) {
		t.Error("the next start didn't wait")
	}
	lease.Release()
	if s.delay != 0 {
		t.Error("the delay outlives a start that succeeded")
	}
}

func TestNextRetry(t *testing.T) {
	var got []time.Duration
	for delay := nextRetry(0); len(got) < 7; delay = nextRetry(delay) {
		got = append(got, delay/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16, 30, 30}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStartupTimeout(t *testing.T) {
	for name, f := range map[string]fake{"never loaded": {Gated: true, IgnoreTerm: true}, "never listens": {Deaf: true}} {
		t.Run(name, func(t *testing.T) {
			o := f.options(t)
			o.StartupTimeout = 300 * time.Millisecond
			s := newServer(t, o)
			_, err := s.Acquire(t.Context(), nil)
			wantFault(t, err, wire.CodeInternal, "300ms", "llama_server.startup_timeout")
			for _, pid := range f.pids() {
				if runs(pid) {
					t.Error("the server is left")
				}
			}
		})
	}
}

func TestAnUnusedServerIsStopped(t *testing.T) {
	var f fake
	o := f.options(t)
	o.IdleTimeout = 20 * time.Millisecond
	s := newServer(t, o)
	if err := s.Warm(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the warmed server ended", func() bool { return !runs(f.pids()[0]) })
	lease := acquire(t, s)
	used := lease.instance
	lease.Release()
	<-used.ended
	acquire(t, s).Release()
	if n := len(f.pids()); n != 3 {
		t.Errorf("%d starts", n)
	}
}

func TestCloseWhileItStarts(t *testing.T) {
	f := fake{Gated: true, IgnoreTerm: true}
	s := newServer(t, f.options(t))
	failed := make(chan error)
	loading := make(chan struct{})
	go func() {
		failed <- s.Warm(t.Context(), func(phase Phase) {
			if phase == PhaseModelLoad {
				close(loading)
			}
		})
	}()
	<-loading
	_ = s.Close(t.Context())
	wantFault(t, <-failed, wire.CodeInternal, "stopping")
	if runs(f.pids()[0]) {
		t.Error("the server outlived Close")
	}
}

func TestCloseKillsWhatRefusesToEnd(t *testing.T) {
	f := fake{IgnoreTerm: true}
	o := f.options(t)
	o.StopTimeout = time.Hour
	s := newServer(t, o)
	acquire(t, s).Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Close(ctx)
	if runs(f.pids()[0]) {
		t.Error("the server outlived Close")
	}
}

func TestADeafServerIsKilledAndTheNextChatStartsAgain(t *testing.T) {
	f := fake{IgnoreTerm: true}
	o := f.options(t)
	o.StopTimeout = time.Hour // it is not asked first
	s := newServer(t, o)
	deaf, other := acquire(t, s), acquire(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	deaf.abort(cancel)
	wantFault(t, context.Cause(ctx), wire.CodeInternal, "/health", "killed")
	wantFault(t, other.Describe(fmt.Errorf("EOF")), wire.CodeInternal, "/health", "killed")
	if runs(f.pids()[0]) {
		t.Error("the server is left")
	}
	deaf.Release()
	other.Release()
	acquire(t, s).Release()
	if n := len(f.pids()); n != 2 {
		t.Errorf("%d starts", n)
	}
}

// runEngine acquires a lease and lives until it is killed.
func runEngine(args []string) int {
	s := NewServer(ServerOptions{Binary: args[0], ModelPath: args[1]})
	if _, err := s.Acquire(context.Background(), nil); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	select {}
}

func TestAKilledEngineLeavesNothing(t *testing.T) {
	f := fake{Grandchild: runtime.GOOS == "linux", IgnoreTerm: true}
	o := f.options(t)
	engine := exec.Command(os.Args[0], "engine", o.Binary, o.ModelPath)
	out, err := engine.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Wait() }()
	line := make([]byte, len("ready\n"))
	if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	family := f.pids()
	if text, err := os.ReadFile(filepath.Join(f.Folder, "grandchild")); err == nil {
		grandchild, _ := strconv.Atoi(string(text))
		family = append(family, grandchild)
	}
	socket := socketOf(t, f)
	if err := engine.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "server and grandchild ended", func() bool { return !slices.ContainsFunc(family, runs) })
	testkit.Until(t, "the socket's folder is removed", func() bool { return !has(filepath.Dir(socket), "") })
}
