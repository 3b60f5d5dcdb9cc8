package main

import (
	"context"
	"io"
	"os"
	"time"
)

// hostGoneInterval is how often a quiet stdin or stdout is looked at.
const hostGoneInterval = 50 * time.Millisecond

// output is the real stdout, or in tests whatever stands for it. Nothing but the sink writes to it,
// and no child inherits it.
type output struct {
	io.Writer
	file *os.File // nil when it is no file
}

func stdioOutput(w io.Writer) *output {
	file, ok := w.(*os.File)
	if !ok {
		return &output{Writer: w}
	}
	return &output{Writer: fileWriter(file), file: file}
}

// tryWrite returns the sink's TryWrite; nil where nothing can be written without waiting.
func (o *output) tryWrite() func([]byte) int {
	if o.file == nil {
		return nil
	}
	return tryWriter(o.file)
}

// unread returns how many bytes the reader has not taken from the kernel yet.
func (o *output) unread() (int, bool) {
	if o.file == nil {
		return 0, false
	}
	return unreadBytes(o.file)
}

// hostGone closes its channel when nobody has the other end of stdout open any more. It looks until
// ctx ends.
func (o *output) hostGone(ctx context.Context) <-chan struct{} {
	if o.file == nil {
		return nil
	}
	return look(ctx, func() bool { return readerGone(o.file) })
}

// look closes its channel when seen says so; it asks until ctx ends.
func look(ctx context.Context, seen func() bool) <-chan struct{} {
	found := make(chan struct{})
	go func() {
		tick := time.NewTicker(hostGoneInterval)
		defer tick.Stop()
		for !seen() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		close(found)
	}()
	return found
}
