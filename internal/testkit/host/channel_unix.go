//go:build unix

package host

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// channel returns a pipe or a socket pair: the engine's end, which blocks as an inherited stream does,
// and ours, which a deadline or a Close interrupts. out says that the engine writes to it.
func channel(t testing.TB, socket, out, small bool) (engine, ours *os.File) {
	t.Helper()
	if socket {
		return socketPair(t, small)
	}
	source, target, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if small {
		shrinkPipe(target)
	}
	if out {
		return target, source
	}
	return source, target
}

func socketPair(t testing.TB, small bool) (engine, ours *os.File) {
	t.Helper()
	// A fork between the two calls would hand the descriptors to a child of another test.
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range pair {
		if small {
			_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, 1024)
		}
	}
	if err := syscall.SetNonblock(pair[1], true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(pair[0]), "the engine's end"), os.NewFile(uintptr(pair[1]), "the host's end")
}

// setNonblocking sets O_NONBLOCK on what file and a child share.
func setNonblocking(t testing.TB, file *os.File) {
	t.Helper()
	conn, err := file.SyscallConn()
	if err == nil {
		_ = conn.Control(func(fd uintptr) { err = syscall.SetNonblock(int(fd), true) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
