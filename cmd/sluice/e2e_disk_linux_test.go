package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted returns a small file system of its own in memory; ok is false where we may not make one.
func mounted(t *testing.T, flags uintptr) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if os.Getuid() != 0 || unix.Mount("tmpfs", dir, "tmpfs", flags, "size=1m,mode=0700") != nil {
		return "", false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// smallDisk returns a folder for a megabyte, if we may make one.
func smallDisk(t *testing.T) (dir string, ok bool) { return mounted(t, 0) }

// readOnlyDisk returns a folder of a file system that can't be written, if we may make one.
func readOnlyDisk(t *testing.T) (dir string, ok bool) { return mounted(t, unix.MS_RDONLY) }
