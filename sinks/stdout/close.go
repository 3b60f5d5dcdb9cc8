package stdout

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrGivenUp is what Close returns when output was left unwritten.
var ErrGivenUp = errors.New("stdout: gave up on unread output")

// progressInterval is how often Close looks whether the reader took something.
const progressInterval = 50 * time.Millisecond

// Close says that no frame follows and waits until everything has been written, or ctx ends, or the
// reader took no byte for patience (0: no bound). It returns ErrGivenUp when output was left; the
// writer may then still be blocked in its write.
func (s *Sink) Close(ctx context.Context, patience time.Duration) error {
	s.mu.Lock()
	s.closing = true
	s.wake.Signal()
	s.mu.Unlock()
	if s.awaitReader(ctx, s.ended, patience, func() bool { return true }) {
		return nil
	}
	return s.givenUp()
}

// Stuck waits until Gate has held and the reader has taken no byte for patience; it is false when ctx
// ended before. After the end of input nothing else would ever start the chats that wait at the gate.
func (s *Sink) Stuck(ctx context.Context, patience time.Duration) bool {
	s.awaitReader(ctx, nil, patience, func() bool { return !s.Open() })
	return ctx.Err() == nil
}

// awaitReader waits for ended, and returns true then; or until ctx ends, or the reader took no byte
// for patience (0: no bound) while we were waiting for it.
func (s *Sink) awaitReader(ctx context.Context, ended <-chan struct{}, patience time.Duration, waiting func() bool) bool {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	seen, since := s.progress(), time.Now()
	for {
		select {
		case <-ended:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
			if now := s.progress(); now != seen || !waiting() {
				seen, since = now, time.Now()
			} else if patience > 0 && time.Since(since) >= patience {
				return false
			}
		}
	}
}

func (s *Sink) givenUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frames == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d frames, %d bytes", ErrGivenUp, s.frames, s.events+s.guaranteed)
}

// progress changes whenever the reader takes a byte.
func (s *Sink) progress() [2]int64 {
	p := [2]int64{s.wroteBytes.Load(), 0}
	if s.options.Unread != nil {
		if n, ok := s.options.Unread(); ok {
			p[1] = int64(n)
		}
	}
	return p
}
