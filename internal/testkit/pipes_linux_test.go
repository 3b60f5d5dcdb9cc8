package testkit

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestPipeIsSmall(t *testing.T) {
	w, _ := SlowPipe(t, Pace{Paused: true})
	conn, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	if err := conn.Control(func(fd uintptr) { size, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil || size > 4096 {
		t.Errorf("the pipe holds %d bytes, %v", size, err)
	}
}
