package process

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// killLimit bounds how long the end of killed processes is awaited. SIGKILL can't be refused, but a
// process that hangs in the kernel ends only when its system call does.
const killLimit = 10 * time.Second

// pollInterval is how often the processes that a child left behind are looked for.
const pollInterval = 10 * time.Millisecond

// target is how a child and what it started are found. Its JSON form is the guardian's input.
type target struct {
	Marker string `json:"marker"`
	// Group is the process group's id, 0 before the child runs.
	Group int `json:"group,omitempty"`
	// Scratch is removed when all are gone.
	Scratch string `json:"scratch,omitempty"`
	// Gone says that nothing of it is left.
	Gone bool `json:"gone,omitempty"`
}

// Process is one child and whatever it started.
type Process struct {
	target target
	cmd    *exec.Cmd
	hold   hold // the job object on Windows; empty elsewhere
	exited func(*Process)
	done   chan struct{} // closed by watch, last
	kill   chan struct{} // closed by Kill
	once   sync.Once

	mu       sync.Mutex
	reaped   bool      // the child's id may be another process's from here on
	deadline time.Time // until when survivors may end by themselves; set by Stop
	state    string    // set before done is closed
}

func newProcess(c Command, exited func(*Process)) *Process {
	p := &Process{exited: exited, done: make(chan struct{}), kill: make(chan struct{})}
	p.target = target{Marker: newMarker(), Scratch: c.Scratch}
	p.cmd = c.command(p.target.Marker)
	return p
}

// start runs in the forking thread.
func (p *Process) start() error {
	setChildAttributes(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.target.Group = p.cmd.Process.Pid
	if err := p.hold.take(p.cmd.Process); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return err
	}
	return nil
}

// PID returns the child's process id, which is also its group's.
func (p *Process) PID() int { return p.target.Group }

// Done is closed when the child has ended, and with it everything it started.
func (p *Process) Done() <-chan struct{} { return p.done }

// State tells how the child ended, as in "exit status 1" or "signal: killed". It is empty before Done.
func (p *Process) State() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Kill kills the child and what it started. It doesn't wait; Done tells.
func (p *Process) Kill() { p.once.Do(func() { close(p.kill) }) }

// Stop asks the child and what it started to end (SIGTERM), kills what is left after grace, and
// returns when all are gone. On Windows there is nothing to ask with: they are killed.
func (p *Process) Stop(grace time.Duration) {
	p.ask(grace)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.Kill()
		<-p.done
	}
}

func (p *Process) ask(grace time.Duration) {
	if !canAsk {
		p.Kill()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.deadline = time.Now().Add(grace)
		terminate(p.target)
	}
}

// watch waits for the child's end, ends what it left behind and tells everybody. The child is reaped
// last where the system allows, so that its id can't be another process's while we kill by it.
func (p *Process) watch(log *slog.Logger) {
	defer close(p.done)
	leader := make(chan struct{})
	go func() {
		defer close(leader)
		awaitLeader(p.cmd)
	}()
	select {
	case <-leader:
		p.awaitSurvivors()
	case <-p.kill:
	}
	if !p.hold.end(p.target, killLimit) {
		log.Warn("a killed process has not ended", "pid", p.target.Group)
	}
	<-leader
	p.target.removeScratch() // before the guardian is told that nothing is left
	p.exited(p)
	p.reap()
	p.hold.release()
}

func (p *Process) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	_ = p.cmd.Wait() // the state tells more than the error
	p.state = p.cmd.ProcessState.String()
}

// awaitSurvivors lets what a stopped child left behind end by itself, until Stop's deadline: the
// server behind a wrapper script that ended at once.
func (p *Process) awaitSurvivors() {
	p.mu.Lock()
	deadline := p.deadline
	p.mu.Unlock()
	for time.Now().Before(deadline) && p.hold.anyLeft(p.target) {
		select {
		case <-p.kill:
			return
		case <-time.After(pollInterval):
		}
	}
}

// valid guards the guardian: an empty marker or group 1 would match what isn't ours.
func (t target) valid() bool {
	return strings.HasPrefix(t.Marker, MarkerPrefix) && len(t.Marker) > len(MarkerPrefix) && (t.Group == 0 || t.Group > 1)
}

// makeScratch makes the folder. One that exists is somebody else's.
func (t target) makeScratch() error {
	if t.Scratch == "" {
		return nil
	}
	if err := os.Mkdir(t.Scratch, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrScratch, err)
	}
	return nil
}

func (t target) removeScratch() {
	if t.Scratch != "" {
		_ = os.RemoveAll(t.Scratch)
	}
}
