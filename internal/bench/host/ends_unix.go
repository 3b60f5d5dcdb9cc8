//go:build unix

package host

import (
	"os"
	"syscall"
)

func openPipe() (read, write *os.File, err error) {
	var pair [2]int
	err = openPair("pipe", &pair, func() error { return syscall.Pipe(pair[:]) })
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), "pipe"), os.NewFile(uintptr(pair[1]), "pipe"), nil
}

func openSocketPair() (read, write *os.File, err error) {
	var pair [2]int
	err = openPair("socketpair", &pair, func() (err error) {
		pair, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket"), nil
}

// openPair opens two descriptors that no program started meanwhile inherits.
func openPair(name string, pair *[2]int, open func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := open(); err != nil {
		return os.NewSyscallError(name, err)
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	return nil
}
