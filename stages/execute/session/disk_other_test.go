//go:build !linux

package session

import "testing"

// smallDisk returns a file system of a megabyte; ok is false where we may not make one.
func smallDisk(*testing.T) (dir string, ok bool) { return "", false }
