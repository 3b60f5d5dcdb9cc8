//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitInput returns when file has something to read, its end included.
func awaitInput(file *os.File) error {
	poll := []unix.PollFd{{Fd: int32(descriptorOf(file)), Events: unix.POLLIN}}
	if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	return nil
}
