package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLookup: which file is read, for every way to name one. Each file sets another queue_frames.
func TestLookup(t *testing.T) {
	root := t.TempDir()
	write := func(path, frames string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("output: {queue_frames: "+frames+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cwd/config.yaml", "1")
	write("xdg/sluice/config.yaml", "2")
	write("home/.config/sluice/config.yaml", "3")
	write("named.yaml", "4")
	write("cwd/variable.yaml", "5")
	cwd, named := filepath.Join(root, "cwd"), filepath.Join(root, "named.yaml")
	home, xdg := "HOME="+root+"/home", "XDG_CONFIG_HOME="+root+"/xdg"
	for name, test := range map[string]struct {
		options Options
		frames  int
		missing string
	}{
		"cwd":                    {Options{Environ: []string{home, xdg}}, 1, ""},
		"flag":                   {Options{Path: named, Environ: []string{"SLUICE_CONFIG=variable.yaml"}}, 4, ""},
		"variable":               {Options{Environ: []string{"SLUICE_CONFIG=variable.yaml"}}, 5, ""},
		"empty variable":         {Options{Environ: []string{"SLUICE_CONFIG="}}, 1, ""},
		"JSON-RPC, XDG":          {Options{Mode: ModeJSONRPC, Environ: []string{home, xdg}}, 2, ""},
		"JSON-RPC, home":         {Options{Mode: ModeJSONRPC, Environ: []string{home}}, 3, ""},
		"JSON-RPC, relative XDG": {Options{Mode: ModeJSONRPC, Environ: []string{home, "XDG_CONFIG_HOME=."}}, 3, ""},
		"JSON-RPC, no home":      {Options{Mode: ModeJSONRPC, Environ: []string{}}, 1024, "$HOME/.config/sluice/config.yaml"},
		"JSON-RPC, variable":     {Options{Mode: ModeJSONRPC, Environ: []string{xdg, "SLUICE_CONFIG=variable.yaml"}}, 5, ""},
		"JSON-RPC, flag":         {Options{Mode: ModeJSONRPC, Path: "config.yaml", Environ: []string{xdg}}, 1, ""},
		"JSON-RPC, none":         {Options{Mode: ModeJSONRPC, Environ: []string{"HOME=" + root}}, 1024, root + "/.config/sluice/config.yaml"},
		"flag without file":      {Options{Path: "no.yaml", Environ: []string{"SLUICE_CONFIG=variable.yaml"}}, 1024, cwd + "/no.yaml"},
		"flag without folder":    {Options{Path: "/no/where.yaml", Environ: []string{}}, 1024, "/no/where.yaml"},
	} {
		test.options.Dir = cwd
		loaded, err := Load(test.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if loaded.Config.Output.QueueFrames != test.frames || loaded.Missing != test.missing {
			t.Errorf("%s: got %d frames, missing %q", name, loaded.Config.Output.QueueFrames, loaded.Missing)
		}
		if test.missing == "" && loaded.Warnings != nil {
			t.Errorf("%s: warnings %q", name, loaded.Warnings)
		}
		if read := test.missing == ""; loaded.Found != read || (loaded.Path != "") != read {
			t.Errorf("%s: found %v, path %q", name, loaded.Found, loaded.Path)
		}
	}
	loaded, err := Load(Options{Dir: root, Environ: []string{}})
	if err != nil || loaded.Found || loaded.Missing != filepath.Join(root, fileName) || loaded.Warnings != nil {
		t.Errorf("nothing: %+v, %v", loaded, err)
	}
}

func TestUserFolders(t *testing.T) {
	for _, test := range []struct {
		goos, config, data string
		environ            []string
	}{
		{"linux", "/h/.config", "/h/.local/share/sluice", []string{"HOME=/h"}},
		{"linux", "/c", "/d/sluice", []string{"HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d"}},
		{"linux", "/h/.config", "/h/.local/share/sluice", []string{"HOME=/h", "XDG_CONFIG_HOME=c", "XDG_DATA_HOME=d"}},
		{"linux", "", "", nil},
		{"darwin", "/h/Library/Application Support", "/h/Library/Application Support/sluice", []string{"HOME=/h", "XDG_DATA_HOME=/d"}},
		{"windows", "/roaming", "/local/sluice", []string{"AppData=/roaming", "LocalAppData=/local", "=C:=C:\\"}},
	} {
		vars := newVariables(test.environ, test.goos)
		if config, data := configHome(vars, test.goos), dataDir(vars, test.goos); config != test.config || data != test.data {
			t.Errorf("%s %v: got %q, %q", test.goos, test.environ, config, data)
		}
	}
}
