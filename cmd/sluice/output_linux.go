package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// unreadBytes asks the kernel how much of what was written has not been read: FIONREAD (TIOCINQ) tells for
// either end of a pipe (pipe(7)), SIOCOUTQ for a socket (unix(7)).
func unreadBytes(file *os.File) (int, bool) {
	fd := int(descriptorOf(file))
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return 0, false
	}
	request := uint(unix.TIOCINQ)
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		request = unix.SIOCOUTQ
	case unix.S_IFIFO:
	default:
		return 0, false
	}
	n, err := unix.IoctlGetInt(fd, request)
	return n, err == nil
}
