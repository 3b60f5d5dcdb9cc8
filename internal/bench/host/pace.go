package host

import (
	"context"
	"math"
	"time"
)

// Pace models how a host reads. It is used by one reader at a time and keeps its state, so every
// reader needs one of its own.
type Pace interface {
	// Wait blocks until the model reads again and returns the most bytes that it then takes: at least
	// 1, or 0 when the model goes away and closes its end. Taken is how many bytes the last read
	// brought. Wait returns early when the context ends.
	Wait(ctx context.Context, taken int) (limit int)
}

// Fast reads whatever is there at once.
type Fast struct{}

// Wait returns at once.
func (Fast) Wait(context.Context, int) int { return math.MaxInt }

// Stalled doesn't read for a time, and from then on whatever is there.
type Stalled struct {
	For  time.Duration
	over bool
}

// Wait blocks for the time of the stall, once.
func (s *Stalled) Wait(ctx context.Context, _ int) int {
	if !s.over {
		s.over = true
		pause(ctx, s.For)
	}
	return math.MaxInt
}

// throttledSlice is how much of a second a throttled reader takes at once: small enough to be steady
// for the writer, long enough for Go's timers.
const throttledSlice = 16

// Throttled reads a number of bytes per second, in sixteenths.
type Throttled struct {
	BytesPerSecond int
}

// Wait blocks for as long as what was taken last may take.
func (t *Throttled) Wait(ctx context.Context, taken int) int {
	pause(ctx, time.Duration(float64(taken)/float64(t.BytesPerSecond)*float64(time.Second)))
	return max(1, t.BytesPerSecond/throttledSlice)
}

// Bursty reads whatever is there for a time, then nothing for a time, and so on. It starts with a pause.
type Bursty struct {
	Pause, Read time.Duration
	until       time.Time // when the current burst ends
}

// Wait blocks for a pause when the burst is over.
func (b *Bursty) Wait(ctx context.Context, _ int) int {
	if !time.Now().Before(b.until) {
		pause(ctx, b.Pause)
		b.until = time.Now().Add(b.Read)
	}
	return math.MaxInt
}

// trickleReads is how many bytes a trickling reader takes, one by one, between two pauses of a
// millisecond: 64 KB/s at most. Without the pauses it would take a whole core from the others, and
// the figures would tell of that.
const trickleReads = 64

// Trickle reads one byte at a time.
type Trickle struct {
	reads int
}

// Wait blocks after every few reads.
func (t *Trickle) Wait(ctx context.Context, _ int) int {
	t.reads++
	if t.reads%trickleReads == 0 {
		pause(ctx, time.Millisecond)
	}
	return 1
}

// Closed reads as fast as it can and goes away after a number of bytes.
type Closed struct {
	After int
	taken int
}

// Wait returns at once.
func (c *Closed) Wait(_ context.Context, taken int) int {
	c.taken += taken
	return max(0, c.After-c.taken)
}

func pause(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
