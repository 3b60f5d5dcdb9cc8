//go:build unix

package planner

import "syscall"

// openFlags keep an open from waiting, should the name have become a FIFO's since it was looked at.
const openFlags = syscall.O_NONBLOCK
