package config

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writeFile stores text as config.yaml in a fresh folder and returns the folder.
func writeFile(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// load loads text as the config.yaml of the working directory, with the given variables.
func load(t testing.TB, text string, environ ...string) (*Loaded, error) {
	t.Helper()
	return Load(Options{Dir: writeFile(t, text), Environ: append([]string{"HOME=/home/someone"}, environ...)})
}

func mustLoad(t testing.TB, text string, environ ...string) *Loaded {
	t.Helper()
	loaded, err := load(t, text, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}
