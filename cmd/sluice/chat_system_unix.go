//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// setOwnGroup puts the child into a process group of its own.
func setOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// isTerminal reports whether the file is a terminal: nothing else has a window size.
func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(descriptorOf(file)), unix.TIOCGWINSZ)
	return err == nil
}

// obeysEscapes reports whether the terminal obeys escape sequences.
func obeysEscapes(*os.File) bool { return os.Getenv("TERM") != "dumb" }

// brokenPipe reports whether a write failed because its reader has gone.
func brokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
