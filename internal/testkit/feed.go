package testkit

import (
	"io"
	"sync"
)

// Feed is an engine's stdin in memory: writes never wait, reads wait for one, and after Close what is
// left is read before io.EOF.
type Feed struct {
	mu      sync.Mutex
	changed sync.Cond
	text    []byte
	closed  bool
}

// NewFeed returns an open, empty Feed.
func NewFeed() *Feed {
	f := &Feed{}
	f.changed.L = &f.mu
	return f
}

// Write adds text; after Close it returns io.ErrClosedPipe.
func (f *Feed) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, io.ErrClosedPipe
	}
	f.text = append(f.text, text...)
	f.changed.Broadcast()
	return len(text), nil
}

// Read waits for text or the end.
func (f *Feed) Read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.text) == 0 && !f.closed {
		f.changed.Wait()
	}
	if len(f.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, f.text)
	f.text = f.text[n:]
	return n, nil
}

// Close ends the input; closing again changes nothing.
func (f *Feed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
	return nil
}
