package demo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func writeHello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

// A rename would replace a device as readily as a file.
func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	if err := writeFileAtomically(folder, writeHello); !errors.Is(err, errNotFile) {
		t.Errorf("a folder: %v", err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if err := writeFileAtomically(link, writeHello); !errors.Is(err, errNotFile) {
		t.Errorf("a link to a folder: %v", err)
	}
	if got, err := os.Readlink(link); err != nil || got != folder {
		t.Errorf("the link is %q, %v", got, err)
	}
}

func TestALinkToAFileStays(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := writeFileAtomically(link, writeHello); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "hello" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if _, err := os.Readlink(link); err != nil {
		t.Errorf("the link was replaced: %v", err)
	}
}
