package profile

import (
	"os"
	"path/filepath"
	"runtime"

	"sluice/internal/wire"
)

const folderName = "xgen-dex-cli"

// Folder returns where config.json lies: $DEX_CLI_HOME, else the folder xgen-dex-cli in $XDG_CONFIG_HOME,
// in ~/Library/Application Support on macOS, in %APPDATA% on Windows. The error is a config_invalid.
func Folder() (string, error) {
	home, _ := os.UserHomeDir() // empty when unknown
	return folderOf(runtime.GOOS, os.Getenv, home)
}

func folderOf(system string, getenv func(string) string, home string) (string, error) {
	if named := getenv("DEX_CLI_HOME"); named != "" {
		path, err := filepath.Abs(named)
		if err != nil {
			return "", wire.NewFault(wire.CodeConfigInvalid, "DEX_CLI_HOME can't be told from here: make it an absolute path")
		}
		return path, nil
	}
	base := ""
	switch system {
	case "darwin":
		base = under(home, "Library", "Application Support")
	case "windows":
		base = getenv("APPDATA")
	default: // a relative path there is invalid (XDG Base Directory Specification)
		if base = getenv("XDG_CONFIG_HOME"); !filepath.IsAbs(base) {
			base = under(home, ".config")
		}
	}
	if base == "" {
		return "", wire.NewFault(wire.CodeConfigInvalid, "no folder for config.json: set DEX_CLI_HOME to one")
	}
	return filepath.Join(base, folderName), nil
}

func under(home string, elements ...string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, elements...)...)
}

// makeFolder makes the folder for its owner alone. One that was there is closed to others too, unless it is
// a folder that users share by design.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode()&os.ModeSticky == 0 {
		os.Chmod(dir, 0o700) // another owner's stays as it is: nothing in it is secret
	}
	return nil
}
