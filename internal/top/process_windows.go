package top

import "os"

// processLives reports whether there is a process of that number.
func processLives(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = process.Release()
	return true
}
