package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOneOpenFileHasTheLock, until it is closed.
func TestOneOpenFileHasTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	first, second := open(), open()
	if err := Try(first); err != nil {
		t.Fatal(err)
	}
	if err := Try(second); !errors.Is(err, ErrLocked) {
		t.Errorf("the second got %v", err)
	}
	_ = first.Close()
	if err := Try(second); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	if err := Try(first); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a closed file got %v", err)
	}
}
