package pipeline

import (
	"sync"
	"time"

	"sluice/internal/wire"
)

// stalls are the pauses in the streams of all chats that took at least the threshold.
type stalls struct {
	started   time.Time // what tap.waiting counts from; never changed
	threshold time.Duration
	// depth, when set, returns what waits in the sink; report, when set, is told of each stall.
	depth  func() wire.QueueStats
	report func(wire.Stall)

	mu               sync.Mutex
	upstream, engine wire.StallStats
	taps             map[*tap]struct{} // of the model steps that run
}

// newStalls counts from a moment before any stream, so that no wait begins at 0.
func newStalls(threshold time.Duration) *stalls {
	return &stalls{started: time.Now().Add(-time.Second), threshold: threshold, taps: map[*tap]struct{}{}}
}

func (s *stalls) enter(t *tap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taps[t] = struct{}{}
}

// leave ends a step, and the wait for the server that it may have ended in.
func (s *stalls) leave(t *tap) {
	t.awaited(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taps, t)
}

// add counts a stall, and ends the tap's wait in the same step, so that a stall under way and an ended
// one are never both counted.
func (s *stalls) add(cause wire.Cause, t *tap, took time.Duration, now time.Time) {
	s.mu.Lock()
	of := &s.engine
	if cause == wire.CauseUpstream {
		of = &s.upstream
		t.waiting.Store(0)
	}
	of.Count++
	of.Time += took
	s.mu.Unlock()
	if s.report == nil {
		return
	}
	stall := wire.Stall{Cause: cause, Took: took, Ended: now, Request: t.id}
	if s.depth != nil {
		queue := s.depth()
		stall.Frames, stall.Bytes = queue.Frames, queue.Bytes
	}
	s.report(stall)
}

// stats returns the stalls so far, with the waits for servers that go on counted in.
func (s *stalls) stats() (upstream, engine wire.StallStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	upstream = s.upstream
	now := time.Since(s.started)
	for t := range s.taps {
		since := time.Duration(t.waiting.Load())
		if took := now - since; since > 0 && took >= s.threshold {
			upstream.Count++
			upstream.Time += took
		}
	}
	return upstream, s.engine
}
