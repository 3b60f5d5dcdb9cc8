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
	// progress is told what becomes no event; nil when nobody asks.
	progress *progress
	id       wire.ID
	first    time.Time // when the first text arrived; zero before
	// arrived and handed are when the newest batch came and when it had been dealt with.
	arrived, handed time.Time
	busy            bool // set while events of the newest batch are on their way to the sink
	// waiting is since when the server is waited for, as the time since the start of stalls; 0 while it
	// isn't. Others read it.
	waiting atomic.Int64
}

func (t *tap) observe(batch *wire.Tokens) *wire.Events {
	t.arrived = time.Now()
	t.awaited(t.arrived)
	if t.first.IsZero() && len(batch.Items) > 0 {
		t.first = t.arrived
	}
	t.tokens(int64(len(batch.Items)))
	events := t.apply(batch)
	if t.busy = events.Len() > 0; !t.busy {
		t.progress.stepBrought(batch)
		t.await(t.arrived)
	}
	return events
}

// await says that the server is waited for from now on. Reading the prompt is no stall.
func (t *tap) await(now time.Time) {
	t.handed = now
	if !t.first.IsZero() {
		t.waiting.Store(int64(now.Sub(t.stalls.started)))
	}
}

// awaited counts the wait for the server that ends now.
func (t *tap) awaited(now time.Time) {
	if t.waiting.Load() == 0 {
		return
	}
	if took := now.Sub(t.handed); took >= t.stalls.threshold {
		t.stalls.add(wire.CauseUpstream, t, took, now)
		return
	}
	t.waiting.Store(0)
}

// taken counts the time that a batch took us. What comes at the end without a batch took none.
func (t *tap) taken() {
	if !t.busy {
		return
	}
	t.busy = false
	now := time.Now()
	if took := now.Sub(t.arrived); took >= t.stalls.threshold {
		t.stalls.add(wire.CauseEngine, t, took, now)
	}
	t.await(now)
}

// stepSink is a lane for the time of one model step: the step's end is not the lane's.
type stepSink struct {
	Lane
	tap *tap
}

// Push hands the frames to the lane.
func (s stepSink) Push(ctx context.Context, element any) error {
	if frames, ours := element.(*wire.Frames); ours && s.tap.busy {
		frames.Arrived = s.tap.arrived
	}
	err := s.Lane.Push(ctx, element)
	s.tap.taken()
	return err
}

// Done does nothing: the chat goes on.
func (stepSink) Done(error) {}

// AwaitCompletion returns at once, for the same reason.
func (stepSink) AwaitCompletion() {}
