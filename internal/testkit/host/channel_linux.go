package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// shrinkPipe asks for the smallest pipe; one that stays larger only takes longer to fill.
func shrinkPipe(pipe *os.File) {
	if conn, err := pipe.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096) })
	}
}
