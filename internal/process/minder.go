package process

import (
	"os"
	"runtime"
	"time"
)

// guardianPause is waited before a guardian that died is replaced, so that one that can't live costs little.
const guardianPause = 100 * time.Millisecond

// toldBefore is how many children a guardian is told of before it runs: their lines fit into the pipe.
const toldBefore = 100

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
	if err := g.open(); err != nil {
		return err
	}
	told := 0
	for p := range l.children {
		if told++; told <= toldBefore {
			g.tell(p.target)
		}
	}
	if err := l.forkLocked(g.start); err != nil {
		return err
	}
	l.guardian.stop()
	l.guardian = g
	l.minders.Add(1)
	go l.mind(g)
	if told > toldBefore {
		for p := range l.children {
			g.tell(p.target)
		}
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

// mind replaces a guardian that dies before us, so that what runs is never without one for long.
func (l *Launcher) mind(g *guardian) {
	defer l.minders.Done()
	<-g.done
	select {
	case <-time.After(guardianPause):
	case <-l.closing:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.children) == 0 || l.guardian != g {
		return
	}
	l.log.Warn("the guardian of the child processes died and is replaced")
	if err := l.ensureGuardianLocked(); err != nil {
		l.log.Warn("the guardian can't be started", "error", err.Error())
	}
}
