package session

import (
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk returns a file system of a megabyte; ok is false where we may not make one.
func smallDisk(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") != nil {
		return "", false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}
