package profile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sluice/internal/wire"
)

func TestFolder(t *testing.T) {
	home := filepath.FromSlash("/home/ann")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system string
		vars   map[string]string
		want   string
	}{
		{"linux", nil, "/home/ann/.config/xgen-dex-cli"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/etc/ann"}, "/etc/ann/xgen-dex-cli"},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "relative"}, "/home/ann/.config/xgen-dex-cli"},
		{"freebsd", nil, "/home/ann/.config/xgen-dex-cli"},
		{"darwin", map[string]string{"XDG_CONFIG_HOME": "/etc/ann"}, "/home/ann/Library/Application Support/xgen-dex-cli"},
		{"windows", map[string]string{"APPDATA": "/roaming"}, "/roaming/xgen-dex-cli"},
		{"linux", map[string]string{"DEX_CLI_HOME": "/own", "XDG_CONFIG_HOME": "/etc/ann"}, "/own"},
		{"darwin", map[string]string{"DEX_CLI_HOME": "/own/"}, "/own"},
		{"linux", map[string]string{"DEX_CLI_HOME": "own"}, filepath.Join(here, "own")},
	} {
		got, err := folderOf(c.system, func(name string) string { return c.vars[name] }, home)
		if err != nil || got != filepath.FromSlash(c.want) {
			t.Errorf("%s %v: %q, %v, want %q", c.system, c.vars, got, err, c.want)
		}
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		_, err := folderOf(system, func(string) string { return "" }, "")
		wantCode(t, err, wire.CodeConfigInvalid)
	}
}

func TestFolderIsTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	w := newWorld(t)
	shared := t.TempDir()
	for _, dir := range []struct {
		path string
		mode os.FileMode
		want os.FileMode
	}{
		{w.dir, 0, 0o700},
		{t.TempDir(), 0o755, 0o700},
		{shared, 0o777 | os.ModeSticky, 0o777},
	} {
		if dir.mode != 0 {
			if err := os.Chmod(dir.path, dir.mode); err != nil {
				t.Fatal(err)
			}
		}
		w.dir = dir.path
		w.set(w.engine(), "corp", server)
		for path, want := range map[string]os.FileMode{dir.path: dir.want, filepath.Join(dir.path, fileName): 0o600} {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
}
