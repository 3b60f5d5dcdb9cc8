package profile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of an open file, which the system gives back when the file is closed or the
// process ends, however it does; errLocked when another open file has it.
func tryLock(file *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// replaceFile renames a file over another. An engine that reads the other just then is waited for: here an
// open file can't be replaced.
func replaceFile(from, to string) error {
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for end := time.After(lockPatience); ; {
		err := os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		select {
		case <-tick.C:
		case <-end:
			return err
		}
	}
}

// syncFolder does nothing: folders can't be synced here.
func syncFolder(string) error { return nil }
