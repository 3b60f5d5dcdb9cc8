package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// stdioInput returns the reader of the real stdin, or what stands for it in tests as it is.
func stdioInput(r io.Reader) io.Reader {
	if file, ok := r.(*os.File); ok {
		return input{file}
	}
	return r
}

// input is an inherited file to read from. O_NONBLOCK is shared with everybody who has it open and
// may be set by them at any time, so a read that finds nothing waits; it is no error and no end.
type input struct{ file *os.File }

// Read implements io.Reader.
func (i input) Read(p []byte) (int, error) {
	for {
		n, err := i.file.Read(p)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitInput(i.file); err != nil {
			return 0, err
		}
	}
}

// inputEnded returns a function for pipeline's InputEnded; nil for a stdin of which it can't be told.
func inputEnded(r io.Reader) func(context.Context) <-chan struct{} {
	file, ok := r.(*os.File)
	if !ok {
		return nil
	}
	return func(ctx context.Context) <-chan struct{} { return look(ctx, func() bool { return writerGone(file) }) }
}
