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
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	seen, since := s.progress(), time.Now()
	for {
		select {
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return s.givenUp()
		case <-tick.C:
			if now := s.progress(); now != seen {
				seen, since = now, time.Now()
			} else if patience > 0 && time.Since(since) >= patience {
				return s.givenUp()
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
