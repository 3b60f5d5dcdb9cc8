//go:build unix

package main

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// fileWriter returns a writer of the inherited descriptor that leaves its flags alone: O_NONBLOCK is
// shared with the parent, so it is neither set nor trusted to stay as it is.
func fileWriter(file *os.File) io.Writer { return descriptorOf(file) }

// descriptor is an inherited file descriptor.
type descriptor int

// descriptorOf returns the number behind file. File.Fd would make the descriptor blocking.
func descriptorOf(file *os.File) descriptor {
	d := descriptor(-1)
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { d = descriptor(fd) })
	}
	return d
}

// Write writes all of p, waiting in poll where the descriptor does not block. It is the one place
// that waits for the reader.
func (d descriptor) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := unix.Write(int(d), p[written:])
		if n > 0 {
			written += n
		}
		switch {
		case errors.Is(err, unix.EAGAIN):
			err = d.awaitRoom()
		case errors.Is(err, unix.EINTR):
			err = nil
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (d descriptor) awaitRoom() error {
	poll := []unix.PollFd{{Fd: int32(d), Events: unix.POLLOUT}}
	if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	return nil
}

// readerGone reports whether the other end of a pipe or socket has been closed.
func readerGone(file *os.File) bool { return hungUp(file, 0) }
