package testkit

import (
	"os"

	"golang.org/x/sys/unix"
)

// shrink asks for the smallest pipe; one that stays larger only takes longer to fill.
func shrink(pipe *os.File) {
	if conn, err := pipe.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096) })
	}
}
