package tools

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/config"
	"sluice/internal/wire"
)

// world is a manager with its log.
type world struct {
	*Manager
	t   *testing.T
	log *syncBuffer
}

// newWorld makes a manager of servers, which is closed when the test ends.
func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{t: t, log: &syncBuffer{}}
	o.Match, o.Version = config.MatchGlob, "test"
	o.Logger = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Spawn == nil {
		o.Spawn, o.Patience = spawnScript, cmp.Or(o.Patience, time.Minute) // a busy machine is no fault
	}
	w.Manager = New(o)
	t.Cleanup(w.close)
	return w
}

func (w *world) close() {
	if err := w.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// scripted makes servers of scripts: "name: script".
func scripted(names ...string) map[string]Server {
	servers := map[string]Server{}
	for _, name := range names {
		name, script, _ := strings.Cut(name, ": ")
		servers[name] = Server{Command: script, Clean: strings.NewReplacer("hunter2hunter2", "[redacted]").Replace}
	}
	return servers
}

// list lists all tools and fails on warnings.
func (w *world) list() []wire.Tool {
	w.t.Helper()
	tools, warnings := w.List(w.t.Context(), []string{"*"}, nil)
	if len(warnings) > 0 {
		w.t.Fatalf("warnings: %q", warnings)
	}
	return tools
}

func (w *world) names() (names []string) {
	w.t.Helper()
	for _, tool := range w.list() {
		names = append(names, tool.Name)
	}
	return names
}

// want calls a tool and compares how it ended; it returns the text.
func (w *world) want(status wire.ToolStatus, name, args string) string {
	w.t.Helper()
	result := w.Call(w.t.Context(), name, args)
	if result.Status != status {
		w.t.Fatalf("%s: %s, want %s: %.300s", name, result.Status, status, result.Text)
	}
	return result.Text
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %.1000q", part, text)
		}
	}
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// osProcess is a scripted server in a process of its own: this binary once more.
type osProcess struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  *syncBuffer
	done   chan struct{}
}

func spawnScript(_ string, server Server) (Process, error) {
	p := &osProcess{cmd: exec.Command(os.Args[0], scriptArgument, server.Command), lines: &syncBuffer{}, done: make(chan struct{})}
	p.cmd.Env = os.Environ()
	for name, value := range server.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stderr = p.lines
	theirIn, ourIn, _ := os.Pipe()
	ourOut, theirOut, _ := os.Pipe()
	p.cmd.Stdin, p.cmd.Stdout, p.stdin, p.stdout = theirIn, theirOut, ourIn, ourOut
	err := p.cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	return p, nil
}

func (p *osProcess) Stdin() io.WriteCloser { return p.stdin }
func (p *osProcess) Stdout() io.ReadCloser { return p.stdout }
func (p *osProcess) Done() <-chan struct{} { return p.done }
func (p *osProcess) Kill()                 { _ = p.cmd.Process.Kill() }
func (p *osProcess) State() string         { return p.cmd.ProcessState.String() }

func (p *osProcess) Stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(grace, p.Kill)
	defer timer.Stop()
	<-p.done
}

func (p *osProcess) Lines() []string {
	text := strings.ReplaceAll(p.lines.String(), "hunter2hunter2", "[redacted]")
	return strings.Split(strings.TrimSuffix(text[max(0, len(text)-1000):], "\n"), "\n")
}

// memoryProcess is a scripted server in a goroutine, for tests in a bubble.
type memoryProcess struct {
	stdin  *io.PipeWriter
	stdout *io.PipeReader
	in     *io.PipeReader
	out    *io.PipeWriter
	lines  *syncBuffer
	done   chan struct{}
	state  string
}

func spawnMemory(_ string, server Server) (Process, error) {
	p := &memoryProcess{lines: &syncBuffer{}, done: make(chan struct{})}
	p.in, p.stdin = io.Pipe()
	p.stdout, p.out = io.Pipe()
	go func() {
		defer close(p.done)
		status := newScript(p.in, p.out, p.lines).run(server.Command)
		p.state = "exit status " + string(rune('0'+status))
		p.Kill()
	}()
	return p, nil
}

func (p *memoryProcess) Stdin() io.WriteCloser { return p.stdin }
func (p *memoryProcess) Stdout() io.ReadCloser { return p.stdout }
func (p *memoryProcess) Done() <-chan struct{} { return p.done }
func (p *memoryProcess) Kill()                 { _, _ = p.in.Close(), p.out.Close() }
func (p *memoryProcess) State() string         { return p.state }
func (p *memoryProcess) Stop(time.Duration)    { p.Kill(); <-p.done }
func (p *memoryProcess) Lines() []string {
	return strings.Split(strings.TrimSuffix(p.lines.String(), "\n"), "\n")
}
