// Package filelock takes locks of files that no crash leaves behind: the system gives them back when the
// file is closed or the process ends, however it does.
//
// Concurrency law: the functions may be called from any goroutine and never wait. The file stays its
// opener's, who gives the lock back by closing it.
package filelock

import "errors"

// ErrLocked says that another open file, of this or another process, has the lock.
var ErrLocked = errors.New("another process has the lock")
