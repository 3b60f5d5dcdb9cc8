//go:build unix

package testkit

import (
	"os"
	"syscall"
	"testing"
)

// SocketPair returns one end of a Unix socket pair, as Node gives it to its children, with the
// smallest buffers that the system grants, and the reader of its other end. The end is a blocking
// descriptor, as a child's stdout is.
func SocketPair(t testing.TB, pace Pace) (*os.File, *Reader) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range pair {
		syscall.CloseOnExec(fd)
		for _, option := range []int{syscall.SO_SNDBUF, syscall.SO_RCVBUF} {
			if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, option, 1024); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Only the reading end may wait without a thread of its own, so that closing it ends a read.
	if err := syscall.SetNonblock(pair[1], true); err != nil {
		t.Fatal(err)
	}
	target := os.NewFile(uintptr(pair[0]), "socket, write end")
	source := os.NewFile(uintptr(pair[1]), "socket, read end")
	return target, closing(t, target, NewReader(source, pace))
}
