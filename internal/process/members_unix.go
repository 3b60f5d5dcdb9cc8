//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func setChildAttributes(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func setGuardianAttributes(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// awaitLeader waits for the child and reaps it: there is no portable way to wait without.
func awaitLeader(cmd *exec.Cmd) { _ = cmd.Wait() }

// signalAll signals the group.
func signalAll(t target, signal syscall.Signal) {
	if t.Group > 0 {
		_ = unix.Kill(-t.Group, signal)
	}
}

// countLeft returns 1 when the group has a member that can be signalled, else 0.
func countLeft(t target) int {
	if t.Group > 0 && unix.Kill(-t.Group, 0) == nil {
		return 1
	}
	return 0
}
