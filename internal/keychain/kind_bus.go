//go:build !darwin && !windows

package keychain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/godbus/dbus/v5"
)

// serviceName is who answers for the Secret Service on the bus (freedesktop.org's Secret Service API).
const serviceName = "org.freedesktop.secrets"

var errNoService = errors.New("no Secret Service such as gnome-keyring or KWallet is on the session bus")

// Kind says which keychain there is, without opening it: nobody is asked to unlock anything. The error
// says why there is none.
func Kind(ctx context.Context) (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return "", fmt.Errorf("the session bus can't be reached: %w", err)
	}
	defer bus.Close()
	var runs bool
	if err := bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, serviceName).Store(&runs); err != nil {
		return "", fmt.Errorf("the session bus doesn't answer: %w", err)
	}
	if runs {
		return "a Secret Service", nil
	}
	var startable []string
	if err := bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&startable); err != nil {
		return "", fmt.Errorf("the session bus doesn't answer: %w", err)
	}
	if slices.Contains(startable, serviceName) {
		return "a Secret Service, started when it is needed", nil
	}
	return "", errNoService
}
