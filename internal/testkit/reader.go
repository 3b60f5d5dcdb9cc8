package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Pace says how a Reader reads; the zero value is as fast as it can, from the start.
type Pace struct {
	// Paused makes it read nothing before Resume or Allow.
	Paused bool
	// Chunk is the most that one read takes, in bytes. 0 means 64 KiB.
	Chunk int
	// Delay is how long it rests after each read.
	Delay time.Duration
}

// Reader reads a source at a pace that the test sets and keeps what it read.
type Reader struct {
	source io.ReadCloser
	delay  time.Duration
	ended  chan struct{}

	mu      sync.Mutex
	changed sync.Cond
	// chunk, paused and allowed are set by the test; allowed counts down while paused.
	chunk, allowed int
	paused         bool
	// text is what was read; err is set when the source has ended.
	text []byte
	err  error
}

// NewReader starts to read source, which it closes in Close.
func NewReader(source io.ReadCloser, pace Pace) *Reader {
	r := &Reader{source: source, delay: pace.Delay, ended: make(chan struct{}), chunk: pace.Chunk, paused: pace.Paused}
	if r.chunk <= 0 {
		r.chunk = 64 << 10
	}
	r.changed.L = &r.mu
	go r.run()
	return r
}

func (r *Reader) run() {
	defer close(r.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.source.Read(buffer[:min(len(buffer), r.turn())])
		if r.took(buffer[:n], err) {
			return
		}
		if r.delay > 0 {
			time.Sleep(r.delay)
		}
	}
}

// turn waits until something may be read and returns how much.
func (r *Reader) turn() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.paused && r.allowed == 0 {
		r.changed.Wait()
	}
	if r.paused {
		return min(r.chunk, r.allowed)
	}
	return r.chunk
}

// took keeps what a read brought and reports whether it was the last.
func (r *Reader) took(text []byte, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, text...)
	r.allowed = max(0, r.allowed-len(text))
	r.err = err
	r.changed.Broadcast()
	return err != nil
}

// Pause stalls the reader. A read that is already under way may still bring something.
func (r *Reader) Pause() { r.set(func() { r.paused, r.allowed = true, 0 }) }

// Resume ends a pause.
func (r *Reader) Resume() { r.set(func() { r.paused = false }) }

// Allow lets a paused reader read n more bytes.
func (r *Reader) Allow(n int) { r.set(func() { r.allowed += n }) }

func (r *Reader) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.changed.Broadcast()
}

// Bytes returns a copy of what was read so far.
func (r *Reader) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.text)
}

// Wait waits until what was read satisfies enough, which must not keep its argument. It returns an
// error when the source ends before that.
func (r *Reader) Wait(enough func(text []byte) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !enough(r.text) {
		if r.err != nil {
			return fmt.Errorf("the stream ended after %d bytes: %w", len(r.text), r.err)
		}
		r.changed.Wait()
	}
	return nil
}

// WaitLines waits until at least n whole lines were read.
func (r *Reader) WaitLines(n int) error {
	return r.Wait(func(text []byte) bool { return bytes.Count(text, []byte{'\n'}) >= n })
}

// All resumes, waits for the end of the source and returns everything that was read. The error is nil
// when the source ended with EOF.
func (r *Reader) All() ([]byte, error) {
	r.Resume()
	<-r.ended
	if errors.Is(r.err, io.EOF) {
		return r.text, nil
	}
	return r.text, r.err
}

// Close closes the source, as a host does that goes away, and waits for the reader to end.
func (r *Reader) Close() error {
	err := r.source.Close()
	r.Resume()
	<-r.ended
	return err
}
