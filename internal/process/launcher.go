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

// ErrScratch says that Start could not make the scratch folder.
var ErrScratch = errors.New("process: the scratch folder can't be made")

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
	closing  chan struct{}  // closed by Close
	minders  sync.WaitGroup // one for each guardian
}

// NewLauncher returns a Launcher, which its owner closes.
func NewLauncher(o LauncherOptions) *Launcher {
	l := &Launcher{executable: o.Executable, args: o.Args, log: o.Logger, children: map[*Process]struct{}{}, closing: make(chan struct{})}
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
	// Scratch, when set, is the absolute path of a folder that Start makes, for us alone, and that is
	// removed once the child and all it started are gone.
	Scratch string
}

// Start starts a process. The error is that of the system, ErrClosed, an ErrScratch, or tells why there
// is no guardian; then no Scratch is left.
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
	l.guardian.tell(p.target) // before there is anything that could be left
	if err := l.beginLocked(p); err != nil {
		l.guardian.forget(p.target)
		return nil, err
	}
	l.guardian.tell(p.target)
	l.children[p] = struct{}{}
	go p.watch(l.log)
	return p, nil
}

// beginLocked makes the scratch folder and forks.
func (l *Launcher) beginLocked(p *Process) error {
	if err := p.target.makeScratch(); err != nil {
		return err
	}
	err := l.forkLocked(p.start)
	if err != nil {
		p.target.removeScratch()
	}
	return err
}

// Close kills what still runs, waits for its end and ends the guardian. Calling it again is harmless.
func (l *Launcher) Close() {
	l.mu.Lock()
	children := make([]*Process, 0, len(l.children))
	for p := range l.children {
		children = append(children, p)
	}
	wasClosed := l.closed
	if l.closed = true; !wasClosed {
		close(l.closing)
	}
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
	l.minders.Wait()
}

// exited is told by each process that it and all it started are gone.
func (l *Launcher) exited(p *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.children, p)
	l.guardian.forget(p.target)
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

// MarkerPrefix starts the names of the markers: variables in the environment of every child and of all that it
// starts. It isn't SLUICE_, which is the configuration's.
const MarkerPrefix = "_SLUICE_CHILD_"

// newMarker returns the name of an environment variable that nothing else bears. Each child has a
// variable of its own, so that an engine within an engine's tool bears the markers of both.
func newMarker() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails
	return MarkerPrefix + hex.EncodeToString(random[:])
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
