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

// TestForeignFilesStay: only an empty file or an earlier demo model is written over.
func TestForeignFilesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	for content, ok := range map[string]bool{"": true, "GGUF and the weights of somebody": false, "notes": false} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := WriteFile(path)
		if ok != (err == nil) || !ok && !errors.Is(err, errForeign) {
			t.Errorf("%q: %v", content, err)
		}
		if text, _ := os.ReadFile(path); !ok && string(text) != content {
			t.Errorf("%q was written over", content)
		}
		if again := WriteFile(path); ok && again != nil {
			t.Errorf("the demo model isn't replaced: %v", again)
		}
	}
}
