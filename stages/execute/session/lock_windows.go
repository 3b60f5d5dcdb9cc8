package session

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockWhole takes the lock of a file, which the system gives back when the process ends, however it
// does. It returns errLocked when another open file, of this or another process, has it.
func lockWhole(file *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// isFull reports whether the system refused a write for want of room.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
