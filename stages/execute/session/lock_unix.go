//go:build unix

package session

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isFull reports whether the system refused a write for want of room.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
