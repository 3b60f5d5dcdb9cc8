//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/internal/testkit"
)

// family is a wrapper with a child in its group; onLinux has one in a session of its own as well, and
// one in a group of its own.
const (
	family  = `echo $$ >"$scratch/a.pid"; sh -c 'echo $$ >"$scratch/b.pid"; exec sleep 1000' & `
	onLinux = family + `setsid sh -c 'echo $$ >"$scratch/c.pid"; exec sleep 1000' &
		set -m; sh -c 'echo $$ >"$scratch/d.pid"; exec sleep 1000' & `
)

// scripts gives the family of this system and its size.
func scripts() (string, int) {
	if runtime.GOOS == "linux" {
		return onLinux, 4
	}
	return family, 2
}

func TestNothingOutlivesAKilledEngine(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGABRT} {
		t.Run(signal.String(), func(t *testing.T) {
			folder := t.TempDir()
			script, size := scripts()
			engine := exec.Command(os.Args[0], "engine", script+"wait", folder)
			if line := firstLine(t, engine); line != "started" {
				t.Fatal(line)
			}
			all := pids(t, folder, size)
			if err := engine.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, "all processes ended", allGone(all))
		})
	}
}

func TestStopEndsAllAndKillsWhatRefuses(t *testing.T) {
	script, size := scripts()
	for name, script := range map[string]string{
		"all end when asked":     script + "wait",
		"the wrapper refuses":    `trap "" TERM; ` + script + "while :; do wait; done",
		"only the child is left": script + `trap "exit 0" TERM; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLauncher(LauncherOptions{})
			defer l.Close()
			folder := t.TempDir()
			p, err := l.Start(shell(script, folder))
			if err != nil {
				t.Fatal(err)
			}
			all := pids(t, folder, size)
			p.Stop(200 * time.Millisecond)
			// What was killed may still be on its last steps: without memory, it shows no marker any more.
			testkit.Until(t, "nothing outlives Stop", allGone(all))
			if p.State() == "" {
				t.Error("Stop returned before the state was known")
			}
		})
	}
}

func TestWhatALeaderLeavesBehindIsKilled(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	folder := t.TempDir()
	script, size := scripts()
	wait := ` until [ $(cat "$scratch"/*.pid | wc -l) = ` + strconv.Itoa(size) + ` ]; do sleep 0.01; done; exit 7`
	p, err := l.Start(shell(script+wait, folder))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if !allGone(pids(t, folder, size))() {
		t.Error("something outlived its leader")
	}
	if p.State() != "exit status 7" {
		t.Errorf("state %q", p.State())
	}
}

func TestAStoppedChildMayFinish(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	folder := t.TempDir()
	// The wrapper ends at once; its child ends after it, and must be given the time.
	p, err := l.Start(shell(`trap "exit 0" TERM; "`+os.Args[0]+`" finisher "$scratch" & wait`, folder))
	if err != nil {
		t.Fatal(err)
	}
	pids(t, folder, 1)
	p.Stop(time.Minute)
	if _, err := os.Stat(filepath.Join(folder, "finished")); err != nil {
		t.Error("the child behind the wrapper was killed before its grace was over")
	}
}

func TestCloseKillsAndRefuses(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	folder, scratch := t.TempDir(), filepath.Join(t.TempDir(), "scratch")
	command := shell(`trap "" TERM; echo $$ >"$scratch/a.pid"; while :; do sleep 1000; done`, folder)
	command.Scratch = scratch
	p, err := l.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	all := pids(t, folder, 1)
	l.Close()
	l.Close()
	if !allGone(all)() || p.State() != "signal: killed" {
		t.Errorf("the child outlived Close, or ended otherwise: %q", p.State())
	}
	if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Error("the scratch folder is left")
	}
	if _, err := l.Start(command); !errors.Is(err, ErrClosed) {
		t.Errorf("Start after Close: %v", err)
	}
}

func TestChildrenLeadGroupsAndHoldNothingOfOurs(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	folder := t.TempDir()
	p, err := l.Start(shell(`{ ps -o pgid= -p $$; cat; echo end; } >"$scratch/out"; exec sleep 1000`, folder))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the child read the end of its stdin", func() bool {
		out, _ := os.ReadFile(filepath.Join(folder, "out"))
		return strings.HasSuffix(string(out), "end\n")
	})
	if pgid, err := syscall.Getpgid(p.PID()); err != nil || pgid != p.PID() {
		t.Errorf("group %d of process %d: %v", pgid, p.PID(), err)
	}
}

// A descriptor that our host left open is another copy of a pipe, as in `sluice serve-stdio 3>&1`: its
// reader sees the end once we have closed it, though a child and the guardian run.
func TestChildrenGetNoInheritedDescriptor(t *testing.T) {
	theirs, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if _, err := unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	if _, err := l.Start(shell("exec sleep 1000", "")); err != nil {
		t.Fatal(err)
	}
	if err := inherited.Close(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := theirs.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v: somebody holds the pipe", n, err)
	}
}

func TestStartFails(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	if _, err := l.Start(Command{Path: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing program: %v", err)
	}
	broken := NewLauncher(LauncherOptions{Executable: filepath.Join(t.TempDir(), "none")})
	defer broken.Close()
	if _, err := broken.Start(shell("exit 0", "")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "guardian") {
		t.Errorf("a missing guardian: %v", err)
	}
}

func TestScratchIsMadeAndNeverLeft(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	scratch := filepath.Join(t.TempDir(), "scratch")
	command := shell(`stat -c %a "$scratch" >"$scratch/mode"; sleep 1000`, scratch)
	command.Scratch = scratch
	p, err := l.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the child wrote into its scratch folder", func() bool {
		mode, _ := os.ReadFile(filepath.Join(scratch, "mode"))
		return runtime.GOOS != "linux" && len(mode) > 0 || string(mode) == "700\n"
	})
	if _, err := l.Start(command); !errors.Is(err, ErrScratch) || !errors.Is(err, os.ErrExist) {
		t.Errorf("a scratch folder that exists: %v", err)
	}
	if _, err := os.Stat(filepath.Join(scratch, "mode")); err != nil {
		t.Errorf("a refused start removed another's scratch folder: %v", err)
	}
	p.Kill()
	<-p.Done()
	command.Path = filepath.Join(t.TempDir(), "none")
	if _, err := l.Start(command); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrScratch) {
		t.Errorf("a missing program: %v", err)
	}
	if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Error("the scratch folder is left")
	}
}
