package host

import (
	"context"
	"math"
	"time"
)

// Pace models how a host reads. It is used by one reader at a time.
type Pace interface {
	// Wait blocks until the model reads again and returns the most bytes that it then takes.
	Wait(ctx context.Context) int
}

// Fast reads whatever is there at once.
type Fast struct{}

// Wait returns at once.
func (Fast) Wait(context.Context) int { return math.MaxInt }

// Stalled doesn't read for a time, and from then on whatever is there.
type Stalled struct {
	For  time.Duration
	over bool
}

// Wait blocks for the time of the stall, once.
func (s *Stalled) Wait(ctx context.Context) int {
	if !s.over {
		s.over = true
		timer := time.NewTimer(s.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return math.MaxInt
}
