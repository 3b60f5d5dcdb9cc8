//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit"
)

func TestADeadGuardianIsReplaced(t *testing.T) {
	l := NewLauncher(LauncherOptions{})
	defer l.Close()
	folder := t.TempDir()
	if _, err := l.Start(shell("exec sleep 1000", folder)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		first := guardianOf(l)
		if err := first.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		testkit.Until(t, "another guardian runs", func() bool { g := guardianOf(l); return g != first && g.alive() })
		first = guardianOf(l)
		if err := first.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-first.done
		if _, err := l.Start(shell("exec sleep 1000", folder)); err != nil || !guardianOf(l).alive() {
			t.Fatalf("started without a guardian: %v", err)
		}
	}
}

func guardianOf(l *Launcher) *guardian {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.guardian
}

// What the second guardian was told is what runs, not only what is started later.
func TestNothingOutlivesAnEngineWhoseGuardianWasKilled(t *testing.T) {
	folder := t.TempDir()
	script, size := scripts()
	engine := exec.Command(os.Args[0], "engine", script+"wait", folder)
	if line := firstLine(t, engine); line != "started" {
		t.Fatal(line)
	}
	all := pids(t, folder, size)
	guardian := func() int {
		out, _ := exec.Command("pgrep", "-P", strconv.Itoa(engine.Process.Pid), "-f", " guardian$").Output()
		pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		return pid
	}
	first := guardian()
	if first == 0 {
		t.Fatal("no guardian runs")
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "another guardian runs", func() bool { g := guardian(); return g != 0 && g != first })
	if err := engine.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "all processes ended", allGone(all))
}
