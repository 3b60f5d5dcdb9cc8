//go:build unix

package profile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file, which the system gives back when the file is closed or the
// process ends, however it does; errLocked when another open file has it.
func tryLock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

// replaceFile renames a file over another.
func replaceFile(from, to string) error { return os.Rename(from, to) }

// syncFolder makes a rename in the folder last.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); !errors.Is(err, unix.EINVAL) { // which file systems answer that can't
		return err
	}
	return nil
}
