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

// writerGone reports whether the other end of a pipe or socket has been closed, unread input or not.
func writerGone(file *os.File) bool { return hungUp(file, hostClosed) }

// hungUp reports whether poll tells of the end of a descriptor: one of events, or what it tells unasked.
func hungUp(file *os.File, events int16) bool {
	poll := []unix.PollFd{{Fd: int32(descriptorOf(file)), Events: events}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&(events|unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
