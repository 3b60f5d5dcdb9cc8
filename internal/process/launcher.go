package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
)

// ErrClosed is what Start returns once the launcher has been closed.
var ErrClosed = errors.New("process: the launcher is closed")

// LauncherOptions says how the guardian is run; the zero value is the default.
type LauncherOptions struct {
	// Executable is the program whose Args lead to RunGuardian(os.Stdin). Empty: this program.
	Executable string
	// Args are the guardian's arguments. Nil: "guardian".
	Args []string
	// Logger is told what went wrong. Nil discards.
	Logger *slog.Logger
}

// Launcher starts processes that end with it. Nothing runs before the first Start.
type Launcher struct {
	executable string
	args       []string
	log        *slog.Logger

	mu       sync.Mutex
	closed   bool
	forks    chan func() // to the forking thread; nil before the first Start
	guardian *guardian   // nil before the first Start, and where no guardian is needed
	children map[*Process]struct{}
}

// NewLauncher returns a Launcher, which its owner closes.
func NewLauncher(o LauncherOptions) *Launcher {
	l := &Launcher{executable: o.Executable, args: o.Args, log: o.Logger, children: map[*Process]struct{}{}}
	if l.args == nil {
		l.args = []string{"guardian"}
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	return l
}

// Command is what to start.
type Command struct {
	// Path is the executable's path; Args are its arguments without the program's name.
	Path string
	Args []string
	// Env is the whole environment, to which the marker is added.
	Env []string
	// Dir is the working directory; empty is ours.
	Dir string
	// Stdin, Stdout and Stderr are the child's; nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Scratch, when set, is a folder that is removed once the child and all it started are gone.
	Scratch string
}

// Start starts a process. The error is that of the system, ErrClosed, or tells why there is no
// guardian; then Scratch has been left alone.
func (l *Launcher) Start(c Command) (*Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if l.forks == nil {
		keepInherited()
		l.forks = make(chan func())
		go forkingThread(l.forks)
	}
	if err := l.ensureGuardianLocked(); err != nil {
		return nil, fmt.Errorf("process: the guardian can't be started: %w", err)
	}
	p := newProcess(c, l.exited)
	l.guardian.tell(p.target)
	if err := l.forkLocked(p.start); err != nil {
		l.guardian.forget(p.target)
		return nil, err
	}
	l.guardian.tell(p.target)
	l.children[p] = struct{}{}
	go p.watch(l.log)
	return p, nil
}

// Close kills what still runs, waits for its end and ends the guardian. Calling it again is harmless.
func (l *Launcher) Close() {
	l.mu.Lock()
	children := make([]*Process, 0, len(l.children))
	for p := range l.children {
		children = append(children, p)
	}
	wasClosed := l.closed
	l.closed = true
	l.mu.Unlock()
	for _, p := range children {
		p.Kill()
	}
	for _, p := range children {
		<-p.Done()
	}
	if wasClosed || l.forks == nil {
		return
	}
	close(l.forks)
	l.guardian.stop()
}

// exited is told by each process that it and all it started are gone.
func (l *Launcher) exited(p *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.children, p)
	l.guardian.forget(p.target)
}

// ensureGuardianLocked starts the guardian, also when the last one died, and tells it of all that runs.
func (l *Launcher) ensureGuardianLocked() error {
	if !needsGuardian || l.guardian.alive() {
		return nil
	}
	executable, err := l.guardianPath()
	if err != nil {
		return err
	}
	g := newGuardian(executable, l.args)
	if err := l.forkLocked(g.start); err != nil {
		return err
	}
	l.guardian.stop()
	l.guardian = g
	for p := range l.children {
		g.tell(p.target)
	}
	return nil
}

// guardianPath is this program's path. On Linux a program whose file was replaced while it runs is
// still found by /proc/self/exe.
func (l *Launcher) guardianPath() (string, error) {
	if l.executable != "" {
		return l.executable, nil
	}
	path, err := os.Executable()
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil && runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return path, err
}

// forkLocked runs start in the forking thread.
func (l *Launcher) forkLocked(start func() error) error {
	result := make(chan error, 1)
	l.forks <- func() { result <- start() }
	return <-result
}

// forkingThread is the one thread that forks. It lives as long as any child may: until Close.
func forkingThread(forks <-chan func()) {
	runtime.LockOSThread()
	for fork := range forks {
		fork()
	}
}

// markerPrefix starts the markers' names. It isn't SLUICE_, which is the configuration's.
const markerPrefix = "_SLUICE_CHILD_"

// newMarker returns the name of an environment variable that nothing else bears. Each child has a
// variable of its own, so that an engine within an engine's tool bears the markers of both.
func newMarker() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails
	return markerPrefix + hex.EncodeToString(random[:])
}

// command makes the exec.Cmd of c with its marker.
func (c Command) command(marker string) *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(append(make([]string, 0, len(c.Env)+1), c.Env...), marker+"=1")
	cmd.Dir = c.Dir
	// A nil *os.File in an interface isn't nil: only what is set is handed on.
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	return cmd
}
