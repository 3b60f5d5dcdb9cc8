package guard

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPaths finds out before anything is measured whether what comes of it can be written, and leaves
// all files as they are.
func (g *guarding) checkPaths() error {
	paths := []string{g.options.Results, g.options.Summary}
	if g.entry == nil && !g.options.Update {
		paths = append(paths, cmp.Or(g.options.Record, DefaultRecord))
	}
	for _, path := range paths {
		if path != "" && sameFile(path, g.options.Baseline) {
			return usageError("%s is the baseline: name another file for what comes of the run", path)
		}
	}
	if g.options.Update {
		paths = append(paths, g.options.Baseline)
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := writable(path); err != nil {
			return usageError("%s can't be written (%v): name another file, in a folder that is there", path, cause(err))
		}
	}
	return nil
}

// sameFile reports whether two paths lead to one file, whether or not it is there yet.
func sameFile(one, other string) bool {
	first, err := os.Stat(one)
	if err != nil {
		return filepath.Clean(one) == filepath.Clean(other)
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second)
}

// writable tries to open a file for writing, and removes it when it wasn't there.
func writable(path string) error {
	_, err := os.Stat(path)
	created := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = file.Close()
	if created {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// cause is the system's own word for what went wrong, without the path.
func cause(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
