//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
)

// TestBenchEndsInOrder also when its terminal goes away: without it, its temporary files would stay.
func TestBenchEndsInOrder(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		ctx, stop := untilInterrupt(t.Context())
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		stop()
	}
}
