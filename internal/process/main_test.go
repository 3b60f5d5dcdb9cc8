package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/testkit"
)

// TestMain also is the guardian and the engine of the tests, which run this binary once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guardian":
			syscall.Exit(RunGuardian(os.Stdin)) // os.Exit takes a second under the race detector
		case "engine":
			syscall.Exit(engine(os.Args[2], os.Args[3]))
		case "finisher":
			syscall.Exit(finisher(os.Args[2]))
		}
	}
	goleak.VerifyTestMain(m)
}

// engine starts a shell script, says "started" and lives until it is killed.
func engine(script, scratch string) int {
	l := NewLauncher(LauncherOptions{})
	if _, err := l.Start(shell(script, scratch)); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	select {}
}

// finisher, once asked to end, waits for its parent's end first and then says that it finished.
func finisher(folder string) int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	parent := os.Getppid()
	_ = os.WriteFile(filepath.Join(folder, "finisher.pid"), fmt.Appendln(nil, os.Getpid()), 0o600)
	<-asked
	for os.Getppid() == parent {
		time.Sleep(time.Millisecond)
	}
	_ = os.WriteFile(filepath.Join(folder, "finished"), nil, 0o600)
	return 0
}

// shell is a command that runs a script, in which $scratch is a folder.
func shell(script, scratch string) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: append(os.Environ(), "scratch="+scratch)}
}

// pids returns the process ids that scripts wrote into the folder, once count are there.
func pids(t *testing.T, folder string, count int) []int {
	t.Helper()
	var found []int
	testkit.Until(t, fmt.Sprintf("%d process ids in the folder", count), func() bool {
		found = found[:0]
		files, _ := filepath.Glob(filepath.Join(folder, "*.pid"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bytes.HasSuffix(text, []byte("\n")) {
				found = append(found, pid)
			}
		}
		return len(found) == count
	})
	return found
}

// runs reports whether a process exists and is no zombie.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func allGone(pids []int) func() bool {
	return func() bool {
		for _, pid := range pids {
			if runs(pid) {
				return false
			}
		}
		return true
	}
}

// firstLine starts a command and returns the first line it prints; it is killed when the test ends.
func firstLine(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(out, one); err != nil || one[0] == '\n' {
			return string(line)
		}
		line = append(line, one[0])
	}
}
