package testkit

import (
	"io"
	"os"
	"testing"
)

// SlowPipe returns the write end of a real pipe, as shells give it to their children, and the reader
// of its other end. On Linux the pipe holds one page only, so that a stall is felt soon.
func SlowPipe(t testing.TB, pace Pace) (*os.File, *Reader) {
	t.Helper()
	source, target, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shrink(target)
	return target, closing(t, target, NewReader(source, pace))
}

// MemoryPipe returns the write end of a pipe in memory that holds nothing, for synctest bubbles, and
// the reader of its other end.
func MemoryPipe(t testing.TB, pace Pace) (*io.PipeWriter, *Reader) {
	t.Helper()
	source, target := io.Pipe()
	return target, closing(t, target, NewReader(source, pace))
}

// closing closes both ends when the test ends; a test may have closed either before.
func closing(t testing.TB, target io.Closer, r *Reader) *Reader {
	t.Cleanup(func() {
		_ = target.Close()
		_ = r.Close()
	})
	return r
}
