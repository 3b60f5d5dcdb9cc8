package main

import (
	"os"
	"syscall"
)

// awaitInput has nothing to wait with: reads block here.
func awaitInput(*os.File) error { return syscall.EAGAIN }
