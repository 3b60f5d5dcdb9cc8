//go:build unix

package llama

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// TestPlannedStart: what the plan says stands between the address and the configured arguments.
func TestPlannedStart(t *testing.T) {
	var f fake
	o := f.options(t)
	o.CtxSize, o.Parallel, o.GPULayers, o.Args = 512, 3, "7", []string{"--threads", "2"}
	asked := ""
	o.Plan = func(_ context.Context, program string) ([]string, error) {
		asked = program
		return []string{"-c", "64", "--fit", "off"}, nil
	}
	s := newServer(t, o)
	if s.PID() != 0 {
		t.Error("a server runs")
	}
	before := time.Now()
	lease := acquire(t, s)
	began, ended := lease.Planned()
	if began.Before(before) || ended.Before(began) || ended.After(time.Now()) || asked != o.Binary {
		t.Errorf("planned from %v to %v for %s", began, ended, asked)
	}
	argv, _ := os.ReadFile(filepath.Join(f.Folder, "argv"))
	want := []string{"-m", o.ModelPath, "--host", socketOf(t, f), "-c", "64", "--fit", "off", "--threads", "2"}
	if got := strings.Split(string(argv), "\n"); !slices.Equal(got, want) {
		t.Errorf("argv %q, want %q", got, want)
	}
	if pid := s.PID(); pid == 0 || !runs(pid) {
		t.Errorf("the server is %d", pid)
	}
	lease.Release()
}

// TestRefusedPlan: nothing is started, everybody who waits is told, and the next one asks again at once.
func TestRefusedPlan(t *testing.T) {
	var f fake
	o := f.options(t)
	refusal := error(wire.NewFault(wire.CodeModelPlan, "it does not fit"))
	o.Plan = func(context.Context, string) ([]string, error) { return nil, refusal }
	s := newServer(t, o)
	wantFault(t, s.Warm(t.Context(), nil), wire.CodeModelPlan, "does not fit")
	refusal = errors.New("no reason")
	_, err := s.Acquire(t.Context(), nil)
	wantFault(t, err, wire.CodeInternal, "planned", "no reason")
	if s.delay = 0; len(f.pids()) != 0 {
		t.Errorf("servers were started: %v", f.pids())
	}
	refusal = nil
	lease := acquire(t, s)
	lease.Release()
}

// TestProgramComesBeforeItsPlan: without a program there is nothing to plan for.
func TestProgramComesBeforeItsPlan(t *testing.T) {
	s := newServer(t, ServerOptions{Binary: "no-such-llama-server", Plan: func(context.Context, string) ([]string, error) {
		t.Error("it was planned")
		return nil, nil
	}})
	wantFault(t, s.Warm(t.Context(), nil), wire.CodeBinaryMissing, "PATH")
	if path, err := FindBinary("no-such-llama-server"); err == nil {
		t.Errorf("got %s", path)
	}
	if path, err := FindBinary(os.Args[0]); err != nil || path != os.Args[0] {
		t.Errorf("got %s, %v", path, err)
	}
}

// TestCloseEndsAPlan that hangs.
func TestCloseEndsAPlan(t *testing.T) {
	var f fake
	o := f.options(t)
	planning := make(chan struct{})
	o.Plan = func(ctx context.Context, _ string) ([]string, error) {
		close(planning)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	s := newServer(t, o)
	failed := make(chan error, 1)
	go func() { failed <- s.Warm(t.Context(), nil) }()
	<-planning
	_ = s.Close(t.Context())
	wantFault(t, <-failed, wire.CodeInternal, "stopping")
}

// program returns a program that is a shell script.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "llama-server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAsk(t *testing.T) {
	t.Setenv("SLUICE_LOG_LEVEL", "debug")
	t.Setenv("LLAMA_ARG_PORT", "1")
	t.Setenv(envKey, "theirs")
	launcher := newServer(t, ServerOptions{}).launcher
	for name, c := range map[string]struct{ script, out, problems, err string }{
		"both":         {"echo \"got $*\"\necho bad >&2\n", "got --help x\n", "bad\n", ""},
		"environment":  {"env | grep -c -e ^SLUICE_ -e ^LLAMA_ARG_ -e ^LLAMA_API_KEY\n", "0\n", "", "exit status 1"},
		"fails":        {"echo a\nexit 3\n", "a\n", "", "exit status 3"},
		"floods":       {"yes | head -c 3000000\n", strings.Repeat("y\n", maxAnswer/2), "", ""},
		"leaves a son": {"sleep 1000 &\necho a\n", "a\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, problems, err := Ask(t.Context(), launcher, program(t, c.script), "--help", "x")
			if out != c.out || problems != c.problems || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("got %.100q, %q, %v", out, problems, err)
			}
		})
	}
	if _, _, err := Ask(t.Context(), launcher, "/nonexistent/llama-server"); err == nil {
		t.Error("a program that isn't there was run")
	}
}

// TestAskOfAProgramThatHangs: it is killed with what it started, though it ignores being asked to end.
func TestAskOfAProgramThatHangs(t *testing.T) {
	launcher := newServer(t, ServerOptions{}).launcher
	folder := t.TempDir()
	script := "trap '' TERM\nsleep 1000 &\necho $! > " + folder + "/son.part\nmv " + folder + "/son.part " + folder + "/son\nwait\n"
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	failed := make(chan error, 1)
	go func() {
		_, _, err := Ask(ctx, launcher, program(t, script), "--version")
		failed <- err
	}()
	testkit.Until(t, "the program runs", func() bool { return has(folder, "son") })
	cancel(reason)
	if err := <-failed; err != reason {
		t.Errorf("got %v", err)
	}
	son, _ := os.ReadFile(filepath.Join(folder, "son"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(son))); err != nil || runs(pid) {
		t.Errorf("%d is left, %v", pid, err)
	}
	if _, _, err := Ask(ctx, launcher, program(t, script)); err != reason {
		t.Errorf("got %v", err)
	}
}
