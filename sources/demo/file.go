package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes the default model as a GGUF file. The file appears under its
// name only when it is complete, and replaces what was there; on error nothing is
// left behind and an older file stays as it was.
func WriteFile(path string) error {
	return writeFileAtomically(path, func(w io.Writer) error { return WriteGGUF(w, Default()) })
}

func writeFileAtomically(path string, write func(io.Writer) error) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
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
	return os.Rename(temporary.Name(), path)
}
