package llama

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

const (
	// askInterval is how often /health is asked while no byte comes.
	askInterval = 5 * time.Second
	// silenceLimit is how long it may stay unanswered.
	silenceLimit = 30 * time.Second
)

// Silence knows when the last byte came.
type Silence struct {
	start time.Time
	last  atomic.Int64 // nanoseconds since start
}

// Touch says that bytes came. It is one atomic store.
func (s *Silence) Touch() { s.last.Store(int64(time.Since(s.start))) }

// length is the time since the last byte.
func (s *Silence) length() time.Duration { return time.Since(s.start) - time.Duration(s.last.Load()) }

// Watch looks after one request. While no byte comes for longer than 5 s it asks /health on another
// connection; when that stays unanswered for 30 s, the returned context ends with a *wire.Fault as its
// cause, and a spawned server is killed. Silence alone is no failure. stop ends the watch and the
// context, and returns when the watch has ended; the caller calls it once.
func (l *Lease) Watch(ctx context.Context) (watched context.Context, silence *Silence, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	silence = &Silence{start: time.Now()}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if l.awaitDeafness(watched, silence) {
			l.abort(cancel)
		}
	}()
	return watched, silence, func() {
		cancel(nil)
		<-ended
	}
}

// awaitDeafness returns true once the server neither sends nor answers; false when ctx ended.
func (l *Lease) awaitDeafness(ctx context.Context, silence *Silence) bool {
	var asked time.Time // when this silence was first asked about
	for wait := askInterval; pause(ctx, nil, wait); {
		quiet := silence.length()
		if quiet < askInterval {
			asked, wait = time.Time{}, askInterval-quiet
			continue
		}
		if asked.IsZero() {
			asked = time.Now()
		}
		unanswered := time.Since(later(asked, l.instance.health.answeredAt()))
		if unanswered >= silenceLimit {
			return true
		}
		l.instance.health.ask()
		wait = min(askInterval, silenceLimit-unanswered)
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// abort ends the request with a fault, and a spawned server with it.
func (l *Lease) abort(cancel context.CancelCauseFunc) {
	s, i := l.server, l.instance
	if s.options.attached() {
		cancel(startFault("llama-server at %s sent nothing and did not answer /health for %s; look whether it still runs", i.name, silenceLimit))
		s.recheck(i)
		return
	}
	fault := startFault("llama-server sent nothing and did not answer /health for %s, so it was killed; try again, the next chat starts it%s", silenceLimit, i.child.lastLines())
	cancel(fault)
	s.condemn(i, fault)
}

// condemn kills a spawned server and lets no lease begin on it.
func (s *Server) condemn(i *instance, fault *wire.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i.state == ready {
		i.state = ending
		s.enterLocked(i, PhaseServerStart)
	}
	i.stop(fault)
	i.child.Kill()
}

// health asks one server's /health for all its leases.
type health struct {
	ctx      context.Context
	endpoint Endpoint

	mu       sync.Mutex
	closed   bool
	asked    time.Time // when the last question was asked
	answered time.Time // when the last answer came
	open     sync.WaitGroup
}

// newHealth returns a health whose questions end with ctx.
func newHealth(ctx context.Context, endpoint Endpoint) *health {
	return &health{ctx: ctx, endpoint: endpoint}
}

// ask asks without waiting for the answer, unless the last question is younger than askInterval. An
// unanswered one doesn't hinder the next.
func (h *health) ask() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || time.Since(h.asked) < askInterval {
		return
	}
	h.asked = time.Now()
	h.open.Add(1)
	go func() {
		defer h.open.Done()
		ctx, cancel := context.WithTimeout(h.ctx, silenceLimit)
		defer cancel()
		if _, _, err := h.endpoint.get(ctx, "/health", "", maxProbeBody); err == nil {
			h.mu.Lock()
			h.answered = time.Now()
			h.mu.Unlock()
		}
	}()
}

func (h *health) answeredAt() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answered
}

// close waits for the open questions, which end with ctx.
func (h *health) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.open.Wait()
}
