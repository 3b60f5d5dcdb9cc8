package main

import (
	"errors"
	"io"
	"os"
	"os/exec"

	"golang.org/x/sys/windows"
)

// setOwnGroup keeps Ctrl-C from the child.
func setOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// isTerminal reports whether the file is a console.
func isTerminal(file *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(file.Fd()), &mode) == nil
}

// obeysEscapes asks the console to obey escape sequences, and reports whether it will.
func obeysEscapes(file *os.File) bool {
	var mode uint32
	handle := windows.Handle(file.Fd())
	return os.Getenv("TERM") != "dumb" && windows.GetConsoleMode(handle, &mode) == nil &&
		windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// forgetTyped empties the console's input buffer.
func forgetTyped(file *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(file.Fd())) // best effort
}

// brokenPipe reports whether a write failed because its reader has gone.
func brokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, io.ErrClosedPipe)
}
