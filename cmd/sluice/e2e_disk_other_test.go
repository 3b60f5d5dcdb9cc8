//go:build unix && !linux

package main

import "testing"

// Elsewhere than on Linux no file systems are made.
func smallDisk(*testing.T) (dir string, ok bool)    { return "", false }
func readOnlyDisk(*testing.T) (dir string, ok bool) { return "", false }
