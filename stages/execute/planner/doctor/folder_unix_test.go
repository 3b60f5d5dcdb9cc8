//go:build unix

package doctor

import (
	"os"
	"testing"
)

func TestFolderOfOthers(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, Folder(FolderFacts{Path: folder}), Warn, "mode 0755", "chmod 700")
	// To root every folder is writable but those of a read-only file system: /proc is one.
	want(t, Folder(FolderFacts{Path: "/proc/sluice"}), Fail, "app.data_dir")
}
