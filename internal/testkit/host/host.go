package host

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
)

// limit is when a test that waits has failed: far beyond what a slow machine needs.
const limit = 60 * time.Second

// Stream says what a host does with a standard stream of the engine.
type Stream int

// What a host does with a stream.
const (
	Used   Stream = iota // reads it, or writes to it
	Unread               // keeps it open and never reads
	Closed               // closes its own end at once
	Absent               // gives the engine the null device
)

// Options say how to start an engine; Path is needed.
type Options struct {
	Path string
	// Args follow the program's name.
	Args []string
	// Dir is the working directory; Env is added to our environment less its SLUICE_ variables, where
	// the home of data is a folder of the test's.
	Dir string
	Env []string
	// Sockets gives the engine socket pairs, as Node does, in place of pipes.
	Sockets bool
	// Small shrinks what the kernel keeps of stdout to the least that it grants.
	Small bool
	// Nonblocking sets O_NONBLOCK on the engine's stdout.
	Nonblocking bool
	// Pace is how stdout is read.
	Pace testkit.Pace
	// Stdin may be Used, Closed or Absent.
	Stdin, Stdout, Stderr Stream
	// Group gives the engine a process group of its own, as a terminal does.
	Group bool
	// Reused says that the test uses an id twice on purpose.
	Reused bool
}

// Engine is a running engine, seen from its host.
type Engine struct {
	t       testing.TB
	cmd     *exec.Cmd
	stdin   *os.File        // nil when closed
	out     *testkit.Reader // nil when stdout is not used
	err     *testkit.Reader // nil when stderr is not used
	idle    []*os.File      // ends that are kept open and never used
	done    chan struct{}   // closed when the process has ended
	reused  bool
	checked int // bytes of stdout that are in messages
	// messages are the whole lines that were read, in order.
	messages []Message
	finals   finals
}

// Start starts an engine, which the test's end kills.
func Start(t testing.TB, o Options) *Engine {
	t.Helper()
	e := &Engine{t: t, done: make(chan struct{}), reused: o.Reused, finals: finals{}}
	e.cmd = exec.Command(o.Path, o.Args...)
	e.cmd.Dir = o.Dir
	e.cmd.Env = environment(t.TempDir(), o.Env)
	if o.Group {
		ownGroup(e.cmd)
	}
	// Only what was set is assigned: a nil *os.File in an interface is no nil, and exec's own nil is
	// the null device.
	theirs := e.connect(o)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if o.Nonblocking {
		setNonblocking(t, e.cmd.Stdout.(*os.File))
	}
	for _, file := range theirs {
		_ = file.Close()
	}
	go func() {
		defer close(e.done)
		_ = e.cmd.Wait()
	}()
	t.Cleanup(e.cleanup)
	return e
}

// environment is ours without the engine's variables, with a home of data of its own, and with more.
func environment(data string, more []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "SLUICE_") })
	return append(append(env, "XDG_DATA_HOME="+data), more...)
}

// connect makes the three streams and returns the engine's ends.
func (e *Engine) connect(o Options) (theirs []*os.File) {
	if o.Stdin != Absent {
		engine, ours := channel(e.t, o.Sockets, false, false)
		e.cmd.Stdin, e.stdin = engine, ours
		theirs = append(theirs, engine)
		if o.Stdin == Closed {
			e.CloseStdin()
		}
	}
	if o.Stdout != Absent {
		engine, ours := channel(e.t, o.Sockets, true, o.Small)
		e.cmd.Stdout, e.out = engine, e.attach(ours, o.Stdout, o.Pace)
		theirs = append(theirs, engine)
	}
	if o.Stderr != Absent {
		engine, ours := channel(e.t, false, true, false)
		e.cmd.Stderr, e.err = engine, e.attach(ours, o.Stderr, testkit.Pace{})
		theirs = append(theirs, engine)
	}
	return theirs
}

// attach does with our end of an output what s says.
func (e *Engine) attach(ours *os.File, s Stream, pace testkit.Pace) *testkit.Reader {
	switch s {
	case Closed:
		_ = ours.Close()
	case Unread:
		e.idle = append(e.idle, ours)
	default:
		return testkit.NewReader(ours, pace)
	}
	return nil
}

// PID is the engine's process id.
func (e *Engine) PID() int { return e.cmd.Process.Pid }

// Signal sends a signal to the engine.
func (e *Engine) Signal(signal os.Signal) {
	e.t.Helper()
	if err := e.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		e.t.Fatal(err)
	}
}

// Raw writes to the engine's stdin, waiting while the engine doesn't read.
func (e *Engine) Raw(text string) {
	e.t.Helper()
	if n, err := e.Offer(text, limit); err != nil {
		e.t.Fatalf("stdin took %d of %d bytes: %v; stderr: %s", n, len(text), err, e.Stderr())
	}
}

// Offer writes what the engine takes within patience; the error is os.ErrDeadlineExceeded when that is
// not all of text.
func (e *Engine) Offer(text string, patience time.Duration) (int, error) {
	if err := e.stdin.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return io.WriteString(e.stdin, text)
}

// CloseStdin ends the engine's input.
func (e *Engine) CloseStdin() {
	if e.stdin != nil {
		_ = e.stdin.Close()
		e.stdin = nil
	}
}

// CloseStdout closes the host's end of stdout, as a host does that dies.
func (e *Engine) CloseStdout() { _ = e.out.Close() }

// Pause stalls the reader of stdout, Resume lets it go on, Allow lets it read so many bytes more.
func (e *Engine) Pause()      { e.out.Pause() }
func (e *Engine) Resume()     { e.out.Resume() }
func (e *Engine) Allow(n int) { e.out.Allow(n) }

// Taken is how many bytes of stdout the host has read.
func (e *Engine) Taken() int { return len(e.out.Bytes()) }

// Done is closed when the engine has ended.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Exit waits for the engine's end and returns its exit status, -1 when a signal ended it. Everything
// it wrote has been read then.
func (e *Engine) Exit() int {
	e.t.Helper()
	select {
	case <-e.done:
	case <-time.After(limit):
		e.t.Fatalf("the engine still runs; stderr: %s", e.Stderr())
	}
	if e.out != nil {
		e.finishReading()
	}
	return e.cmd.ProcessState.ExitCode()
}

// Stderr is what the engine logged so far.
func (e *Engine) Stderr() string {
	if e.err == nil {
		return ""
	}
	return string(e.err.Bytes())
}

// Log waits for the engine's end, then returns all that it logged.
func (e *Engine) Log() string {
	e.t.Helper()
	e.Exit()
	text, _ := e.err.All()
	return string(text)
}

func (e *Engine) cleanup() {
	_ = e.cmd.Process.Kill()
	<-e.done
	e.CloseStdin()
	for _, r := range []*testkit.Reader{e.out, e.err} {
		if r != nil {
			_ = r.Close()
		}
	}
	for _, file := range e.idle {
		_ = file.Close()
	}
}
