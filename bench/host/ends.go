package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// ends are both sides of a program's stdin and stdout. They block, as those that hosts hand over do.
type ends struct {
	stdin, stdout           *os.File // ours
	childStdin, childStdout *os.File
}

func openEnds(socketPair bool) (*ends, error) {
	open := openPipe
	if socketPair {
		open = openSocketPair
	}
	childStdin, stdin, err := open()
	if err != nil {
		return nil, err
	}
	stdout, childStdout, err := open()
	if err != nil {
		childStdin.Close()
		stdin.Close()
		return nil, err
	}
	return &ends{stdin: stdin, stdout: stdout, childStdin: childStdin, childStdout: childStdout}, nil
}

func openPipe() (read, write *os.File, err error) {
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(pair[0]), "pipe"), os.NewFile(uintptr(pair[1]), "pipe"), nil
}

func openSocketPair() (read, write *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	return os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket"), nil
}

func (e *ends) closeChild() {
	e.childStdin.Close()
	e.childStdout.Close()
}

func (e *ends) close() {
	e.closeChild()
	e.stdin.Close()
	e.stdout.Close()
}
