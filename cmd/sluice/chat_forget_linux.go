package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped empties the terminal's input queue.
func forgetTyped(file *os.File) {
	_ = unix.IoctlSetInt(int(descriptorOf(file)), unix.TCFLSH, unix.TCIFLUSH) // best effort
}
