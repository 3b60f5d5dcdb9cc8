package main

import (
	"io"
	"sync"
)

// swapping is the least that a batching writer can do: one lock and two buffers that a goroutine
// swaps, which writes the one while producers fill the other. It has no bound.
type swapping struct {
	output io.Writer
	ended  chan struct{} // closed by run
	err    error         // set by run, read after ended is closed

	mu      sync.Mutex
	wake    sync.Cond // signalled when something waits, and by close
	filled  []byte
	closing bool
}

func newSwapping(output io.Writer) sink {
	s := &swapping{output: output, ended: make(chan struct{})}
	s.wake.L = &s.mu
	go s.run()
	return s
}

func (s *swapping) producer(int) func(line) {
	return func(l line) {
		s.mu.Lock()
		s.filled = append(s.filled, l.bytes...)
		s.mu.Unlock()
		s.wake.Signal()
	}
}

// run writes until close. Behind the first error it only takes what waits.
func (s *swapping) run() {
	defer close(s.ended)
	var taken []byte
	for {
		if taken = s.swap(taken[:0]); len(taken) == 0 {
			return
		}
		if s.err == nil {
			_, s.err = s.output.Write(taken)
		}
	}
}

// swap waits for lines and leaves an empty buffer in their place; it returns nothing at the end.
func (s *swapping) swap(empty []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.filled) == 0 && !s.closing {
		s.wake.Wait()
	}
	taken := s.filled
	s.filled = empty
	return taken
}

func (s *swapping) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.filled))
}

func (s *swapping) close() (int64, error) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wake.Signal()
	<-s.ended
	return 0, s.err
}
