//go:build !darwin && !windows

package keychain

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// largestEntry is what one entry holds, in bytes; 0 is no limit.
	largestEntry = 0
	unlockAdvice = "unlock your keyring (its dialog may be behind other windows) and try again"
	advice       = "sign-in needs a Secret Service such as gnome-keyring or KWallet on the session bus, unlocked; start one and try again"
)

// runtimeFolder is where login managers keep the folders of users (systemd's pam_systemd(8)).
const runtimeFolder = "/run/user"

var errNoBus = errors.New("no session bus: DBUS_SESSION_BUS_ADDRESS is not set")

// reachable reports whether a session bus is there to be asked. Without one the library would start a bus
// of its own, which would outlive this process and has no keyring.
func reachable() error {
	return busNamed(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), filepath.Join(runtimeFolder, strconv.Itoa(os.Getuid())))
}

// busNamed reports whether the library finds a bus by its address or in the user's runtime folder.
func busNamed(address, folder string) error {
	if address != "" && address != "autolaunch:" {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return nil
		}
	}
	return errNoBus
}
