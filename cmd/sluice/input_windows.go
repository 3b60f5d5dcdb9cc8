package main

import (
	"os"
	"syscall"
)

// awaitInput has nothing to wait with: reads block here.
func awaitInput(*os.File) error { return syscall.EAGAIN }

// writerGone can't be told here; reading to the end does.
func writerGone(*os.File) bool { return false }
