package guard

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// checkPaths finds out before anything is measured whether what comes of it can be written, and leaves
// all files as they are.
func (g *guarding) checkPaths() error {
	paths := []string{g.options.Results, g.options.Summary}
	switch {
	case g.options.Update:
		paths = append(paths, g.options.Baseline)
	case g.entry == nil:
		paths = append(paths, cmp.Or(g.options.Record, DefaultRecord))
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
