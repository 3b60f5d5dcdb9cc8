//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputQueue is FREAD of sys/fcntl.h, which names the input queue to TIOCFLUSH.
const inputQueue = 1

// forgetTyped empties the terminal's input queue.
func forgetTyped(file *os.File) {
	_ = unix.IoctlSetPointerInt(int(descriptorOf(file)), unix.TIOCFLUSH, inputQueue) // best effort
}
