//go:build unix

package top

import "syscall"

// processLives reports whether there is a process of that number, and ours: another user's is no
// engine that wrote into our data folder.
func processLives(pid int) bool { return syscall.Kill(pid, 0) == nil }
