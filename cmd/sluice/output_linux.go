package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryWriter returns a function that writes what file takes at once and never waits for its reader, or
// nil where there is no such write: to sockets send(2) with MSG_DONTWAIT, to pipes pwritev2(2) with
// RWF_NOWAIT. Neither touches the flags that are shared with the parent.
func tryWriter(file *os.File) func([]byte) int {
	fd := descriptorOf(file)
	var stat unix.Stat_t
	if unix.Fstat(int(fd), &stat) != nil {
		return nil
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		return fd.trySend
	case unix.S_IFIFO:
		return fd.tryPipe
	}
	return nil
}

func (d descriptor) trySend(p []byte) int {
	n, err := unix.SendmsgN(int(d), p, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	if err != nil {
		return 0
	}
	return n
}

// tryPipe writes at the offset -1, which stands for "as write(2) would". An older kernel refuses the flag
// for pipes, and takes nothing.
func (d descriptor) tryPipe(p []byte) int {
	vector := unix.Iovec{Base: unsafe.SliceData(p)}
	vector.SetLen(len(p))
	const offset = ^uintptr(0)
	n, _, errno := unix.Syscall6(unix.SYS_PWRITEV2, uintptr(d), uintptr(unsafe.Pointer(&vector)), 1, offset, offset, unix.RWF_NOWAIT)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// hostClosed asks poll for a socket whose other end has been shut down for writing (poll(2)).
const hostClosed = unix.POLLRDHUP

// unreadBytes asks the kernel how much of what was written has not been read: FIONREAD (TIOCINQ) tells for
// either end of a pipe (pipe(7)); for a socket the peer is asked, and where that is not allowed SIOCOUTQ
// (unix(7)) tells nearly the same.
func unreadBytes(file *os.File) (int, bool) {
	fd := int(descriptorOf(file))
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return 0, false
	}
	request := uint(unix.TIOCINQ)
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		if n, err := unreadAtPeer(uint32(stat.Ino)); err == nil {
			return n, true
		}
		request = unix.SIOCOUTQ
	case unix.S_IFIFO:
	default:
		return 0, false
	}
	n, err := unix.IoctlGetInt(fd, request)
	return n, err == nil
}
