package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// variables are environment variables by name. On Windows names are kept in upper case, since they
// don't differ by case there.
type variables map[string]string

func newVariables(environ []string, goos string) variables {
	vars := make(variables, len(environ))
	for _, entry := range environ {
		name, value, found := strings.Cut(entry, "=")
		if !found || name == "" {
			continue
		}
		if goos == "windows" {
			name = strings.ToUpper(name)
		}
		vars[name] = value
	}
	return vars
}

// source is where the configuration file should be.
type source struct {
	path  string // absolute; empty when the user has no home
	shown string // as the user knows it, for messages
	named bool   // by --config or $SLUICE_CONFIG
	// missing is what to name when there is no such file, where that isn't path.
	missing string
}

// locate decides which file is read: the first place that is named, whether or not it is there.
func locate(o Options, vars variables) source {
	name := o.Path
	if name == "" {
		name = vars[fileVariable]
	}
	switch {
	case name != "":
		return source{path: absolute(o.Dir, name), shown: name, named: true}
	case o.Mode == ModeJSONRPC:
		return userFile(vars, runtime.GOOS)
	}
	return source{path: filepath.Join(o.Dir, fileName), shown: fileName}
}

const (
	fileName     = "config.yaml"
	fileVariable = "SLUICE_CONFIG"
	folderName   = "sluice"
)

func userFile(vars variables, goos string) source {
	dir := configHome(vars, goos)
	if dir == "" {
		return source{missing: "$HOME/.config/sluice/config.yaml"}
	}
	path := filepath.Join(dir, folderName, fileName)
	return source{path: path, shown: path}
}

// configHome and dataHome follow the XDG Base Directory Specification 0.8 (a relative value is
// ignored, as it says) and the customs that os.UserConfigDir follows elsewhere.
func configHome(vars variables, goos string) string {
	switch goos {
	case "windows":
		return vars["APPDATA"]
	case "darwin":
		return under(vars["HOME"], "Library/Application Support")
	}
	if dir := vars["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	return under(vars["HOME"], ".config")
}

func dataHome(vars variables, goos string) string {
	switch goos {
	case "windows":
		return vars["LOCALAPPDATA"]
	case "darwin":
		return under(vars["HOME"], "Library/Application Support")
	}
	if dir := vars["XDG_DATA_HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	return under(vars["HOME"], ".local/share")
}

// under joins a folder to home; without a home there is none.
func under(home, folder string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, folder)
}

// dataDir is app.data_dir when the configuration gives none; empty when the user has no home.
// Whoever stores something creates it, with mode 0700.
func dataDir(vars variables, goos string) string {
	return under(dataHome(vars, goos), folderName)
}
