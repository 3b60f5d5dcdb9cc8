//go:build unix

package profile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

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
