//go:build unix

package doctor

import "golang.org/x/sys/unix"

// writable asks whether files can be made in a folder, and makes none.
func writable(folder string) error { return unix.Access(folder, unix.W_OK|unix.X_OK) }
