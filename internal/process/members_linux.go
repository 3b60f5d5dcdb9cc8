package process

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func setChildAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func setGuardianAttributes(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// awaitLeader waits until the child has ended and leaves it unreaped, so that its id stays taken.
func awaitLeader(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// kinship says how a process belongs to a target.
type kinship int

const (
	stranger  kinship = iota // also a zombie, or a process that is gone
	member                   // of the group
	offspring                // outside the group, but with the marker
)

// signalAll signals the group, and those outside it that bear the marker.
func signalAll(t target, signal syscall.Signal) {
	if t.Group > 0 {
		_ = unix.Kill(-t.Group, signal)
	}
	for pid, kin := range t.family(proc, os.Getpid()) {
		if kin == offspring {
			t.signalOffspring(pid, signal)
		}
	}
}

// signalOffspring holds the process by a descriptor while it looks again: what is looked at is what
// is signalled.
func (t target) signalOffspring(pid int, signal syscall.Signal) {
	process, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if t.kinship(proc, pid) == offspring {
		_ = process.Signal(signal)
	}
	_ = process.Release()
}

// countLeft counts what still runs.
func countLeft(t target) int { return len(t.family(proc, os.Getpid())) }

// proc is where the kernel shows the processes.
const proc = "/proc"

// family returns all processes that belong to t. A proc that belongs to another PID namespace (self is
// not the id we know us by, as after unshare -pf without --mount-proc) would name strangers: then there
// is the group alone.
func (t target) family(proc string, self int) map[int]kinship {
	if link, _ := os.Readlink(proc + "/self"); link != strconv.Itoa(self) {
		return nil
	}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	family := map[int]kinship{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if kin := t.kinship(proc, pid); kin != stranger {
			family[pid] = kin
		}
	}
	return family
}

// kinship looks a process up (proc(5): /proc/pid/stat, /proc/pid/environ).
func (t target) kinship(proc string, pid int) kinship {
	folder := proc + "/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return stranger
	}
	// pid (comm) state ppid pgrp …, where comm may hold anything, parentheses too
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 3 || fields[0] == "Z" || fields[0] == "X" {
		return stranger
	}
	if t.Group > 0 && fields[2] == strconv.Itoa(t.Group) {
		return member
	}
	environ, err := os.ReadFile(folder + "/environ")
	if err == nil && bytes.Contains(environ, []byte(t.Marker+"=")) {
		return offspring
	}
	return stranger
}
