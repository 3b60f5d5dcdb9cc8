// Package clock reads the one clock that all processes of a benchmark share, so that a time taken by
// the load server can be subtracted from one taken by the reader.
//
// On Linux that is CLOCK_MONOTONIC, which has the same origin in every process of a machine. Elsewhere
// it is the time of day at each process's start, counted on without its later corrections. The
// functions may be called from any goroutine; the package holds nothing that has to be closed.
package clock

import "time"

var (
	origin    = readOrigin()
	startTime = time.Now()
)

// Now returns the time in nanoseconds. It costs no system call.
func Now() int64 {
	return origin + int64(time.Since(startTime))
}
