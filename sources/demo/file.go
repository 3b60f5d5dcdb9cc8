package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes the default model as a GGUF file. The file appears under its
// name only when it is complete, and replaces a demo model that was there; on error nothing
// is left behind and an older file stays as it was. Any other file is refused, as is what is
// no file, such as a device; a symbolic link stays: what it leads to is written.
func WriteFile(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isDemo(path) {
		return fmt.Errorf("write model file %s: %w", path, errForeign)
	}
	return writeFileAtomically(path, func(w io.Writer) error { return WriteGGUF(w, Default()) })
}

// errForeign protects a model that took its owner hours to get.
var errForeign = errors.New("another file is there; name a new one, or remove it first")

// isDemo reports whether a file is empty or was written by WriteFile, of whatever version.
func isDemo(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4096) // the model's name is among the first keys
	n, err := io.ReadFull(file, head)
	if err == io.EOF {
		return true
	}
	return bytes.HasPrefix(head[:n], []byte("GGUF")) && bytes.Contains(head[:n], []byte(ModelName))
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
