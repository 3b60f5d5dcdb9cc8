package measure

import (
	"context"
	"time"

	"sluice/internal/bench/clock"
)

// Sample is how far a run was at a moment. What was sent and not yet received waits in the engine,
// in the kernel's buffers or for the reader.
type Sample struct {
	Seconds  float64 `json:"s"`        // since the request
	Sent     int64   `json:"sent"`     // tokens that the load server sent; 0 with a server of the user's own
	Received int64   `json:"received"` // tokens that the reader got
}

// sampler takes samples until it is stopped. Its goroutine alone writes samples until done is closed.
type sampler struct {
	stop    context.CancelFunc
	done    chan struct{}
	samples []Sample
}

// startSampler takes samples as the load asks for; before is what the load server had sent earlier.
func (s *Session) startSampler(ctx context.Context, l Load, a *audience, begun, before int64) *sampler {
	ctx, stop := context.WithCancel(ctx)
	r := &sampler{stop: stop, done: make(chan struct{})}
	if l.SampleEvery <= 0 {
		close(r.done)
		return r
	}
	go func() {
		defer close(r.done)
		ticker := time.NewTicker(l.SampleEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			received := a.received.Load() // first: what arrives while the server is asked was sent before
			sent, err := s.sent(ctx)
			if err != nil {
				return // the run itself will meet what is wrong with the load server
			}
			sample := Sample{float64(clock.Now()-begun) / 1e9, max(0, sent-before), received}
			r.samples = append(r.samples, sample)
			if l.Progress != nil {
				l.Progress(sample)
			}
		}
	}()
	return r
}

// finish ends the sampling and returns what was taken.
func (r *sampler) finish() []Sample {
	r.stop()
	<-r.done
	return r.samples
}
