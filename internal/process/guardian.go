package process

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// guardianLimit bounds how long the guardian looks for processes that are left.
const guardianLimit = time.Minute

// guardianStop is how long an idle guardian may take to end.
const guardianStop = 2 * time.Second

// RunGuardian is the guardian's whole program. It reads from pipe which processes there are until the
// pipe closes, which says that the engine has ended by whatever means, then kills those that are left
// and removes their scratch folders. It returns the exit status: 0, or 1 when some could not be ended.
func RunGuardian(pipe io.Reader) int {
	// What tells the engine to stop is not for its guardian, which has to come after it.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	status := 0
	for _, t := range readTargets(pipe) {
		if !(&hold{}).end(t, guardianLimit) {
			status = 1
		}
		t.removeScratch()
	}
	return status
}

// readTargets returns what is left when the pipe has closed. A line that can't be understood, as the
// unfinished last one of a dying engine, is skipped.
func readTargets(pipe io.Reader) map[string]target {
	targets := map[string]target{}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		var t target
		if json.Unmarshal(lines.Bytes(), &t) != nil || !t.valid() {
			continue
		}
		if t.Gone {
			delete(targets, t.Marker)
		} else {
			targets[t.Marker] = t
		}
	}
	return targets
}

// guardian is the engine's end of the guardian process. A nil guardian is one that isn't needed.
type guardian struct {
	cmd  *exec.Cmd
	pipe *os.File      // our end; closing it ends the guardian
	done chan struct{} // closed when the process has ended
	once sync.Once

	theirs *os.File // its end of the pipe, from open to start
}

func newGuardian(executable string, args []string) *guardian {
	g := &guardian{cmd: exec.Command(executable, args...), done: make(chan struct{})}
	g.cmd.Env = []string{} // it needs nothing, and secrets of ours lie in the environment
	g.cmd.Dir = string(os.PathSeparator)
	return g
}

// open makes the pipe. What is told from then on waits in it until the guardian runs: it knows of
// everything the moment it does, even if we die in that moment.
func (g *guardian) open() (err error) {
	g.theirs, g.pipe, err = os.Pipe()
	return err
}

// start runs in the forking thread, after open. With an error nothing is left open.
func (g *guardian) start() error {
	defer g.theirs.Close()
	g.cmd.Stdin = g.theirs
	setGuardianAttributes(g.cmd)
	if err := g.cmd.Start(); err != nil {
		_ = g.pipe.Close()
		return err
	}
	go func() {
		defer close(g.done)
		_ = g.cmd.Wait()
	}()
	return nil
}

func (g *guardian) alive() bool {
	if g == nil {
		return false
	}
	select {
	case <-g.done:
		return false
	default:
		return true
	}
}

// tell says what to end. An error means that the guardian died: the next Start starts another.
func (g *guardian) tell(t target) {
	if g == nil {
		return
	}
	line, _ := json.Marshal(t) // a struct of strings and numbers always encodes
	_, _ = g.pipe.Write(append(line, '\n'))
}

// forget says that nothing of t is left.
func (g *guardian) forget(t target) { g.tell(target{Marker: t.Marker, Gone: true}) }

// stop closes the pipe and waits until the guardian has ended, which it does at once when it has
// nothing to guard. One that doesn't, because it was suspended, is killed.
func (g *guardian) stop() {
	if g == nil {
		return
	}
	g.once.Do(func() { _ = g.pipe.Close() })
	timer := time.AfterFunc(guardianStop, func() { _ = g.cmd.Process.Kill() })
	defer timer.Stop()
	<-g.done
}
