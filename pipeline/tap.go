package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

// tap sees the tokens of one model step on their way into transform, and when the sink has taken what
// became of them: between the two is our time, the rest is the server's.
type tap struct {
	apply  func(*wire.Tokens) *wire.Events
	tokens func(int64)
	stalls *stalls
	first  time.Time // when the first text arrived; zero before
	// arrived and handed are when the newest batch came and when it had been dealt with.
	arrived, handed time.Time
	busy            bool // set while events of the newest batch are on their way to the sink
}

func (t *tap) observe(batch *wire.Tokens) *wire.Events {
	t.arrived = time.Now()
	t.awaited(t.arrived)
	t.handed = t.arrived
	if t.first.IsZero() && len(batch.Items) > 0 {
		t.first = t.arrived
	}
	t.tokens(int64(len(batch.Items)))
	events := t.apply(batch)
	t.busy = events.Len() > 0
	return events
}

// awaited counts the wait for the server that ends now. Reading the prompt is no stall.
func (t *tap) awaited(now time.Time) {
	if !t.first.IsZero() {
		t.stalls.upstream.count(now.Sub(t.handed), t.stalls.threshold)
	}
}

// taken counts the time that a batch took us. What comes at the end without a batch took none.
func (t *tap) taken() {
	if !t.busy {
		return
	}
	t.busy = false
	t.handed = time.Now()
	t.stalls.engine.count(t.handed.Sub(t.arrived), t.stalls.threshold)
}

// stepSink is a lane for the time of one model step: the step's end is not the lane's.
type stepSink struct {
	Lane
	tap *tap
}

// Push hands the frames to the lane.
func (s stepSink) Push(ctx context.Context, element any) error {
	err := s.Lane.Push(ctx, element)
	s.tap.taken()
	return err
}

// Done does nothing: the chat goes on.
func (stepSink) Done(error) {}

// AwaitCompletion returns at once, for the same reason.
func (stepSink) AwaitCompletion() {}

// stalls are the pauses in the streams of all chats that took longer than the threshold.
type stalls struct {
	threshold        time.Duration
	upstream, engine stall
}

type stall struct {
	times atomic.Int64
	long  atomic.Int64 // nanoseconds
}

func (s *stall) count(pause, threshold time.Duration) {
	if pause > threshold {
		s.times.Add(1)
		s.long.Add(int64(pause))
	}
}

func (s *stall) stats() wire.StallStats {
	return wire.StallStats{Count: s.times.Load(), Time: time.Duration(s.long.Load())}
}
