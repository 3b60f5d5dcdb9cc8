package demo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes the default model as a GGUF file. The file appears under its
// name only when it is complete, and replaces a file that was there; on error nothing is
// left behind and an older file stays as it was. What is no file, such as a device, is
// refused, and a symbolic link stays: what it leads to is written.
func WriteFile(path string) error {
	return writeFileAtomically(path, func(w io.Writer) error { return WriteGGUF(w, Default()) })
}

// errNotFile says that renaming would put a file in the place of something else.
var errNotFile = errors.New("this is not a regular file; name a new one")

// destination returns where to rename to.
func destination(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return path, nil // there is nothing, or creating a file will tell
	}
	if !info.Mode().IsRegular() {
		return "", errNotFile
	}
	return filepath.EvalSymlinks(path)
}

func writeFileAtomically(path string, write func(io.Writer) error) (err error) {
	target, err := destination(path)
	if err != nil {
		return fmt.Errorf("write model file %s: %w", path, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("write model file %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			temporary.Close() // twice is harmless: the first error counts
			os.Remove(temporary.Name())
			err = fmt.Errorf("write model file %s: %w", path, err)
		}
	}()
	if err = write(temporary); err != nil {
		return err
	}
	if err = temporary.Chmod(0o644); err != nil { // CreateTemp makes files private
		return err
	}
	if err = temporary.Sync(); err != nil {
		return err
	}
	if err = temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), target)
}
