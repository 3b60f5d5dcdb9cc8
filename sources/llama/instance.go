package llama

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

// state is how far an instance is.
type state int

const (
	unchecked state = iota // nothing runs yet; or attached, and a lease failed
	starting
	ready
	ending
)

// instance is one run of a spawned server, or the one attached server. Its fields belong to Server.mu,
// but for those that are set before state becomes ready and not changed after.
type instance struct {
	state    state
	phase    Phase
	readyAt  time.Time
	capacity int // leases at once; 0 is no limit
	taken    int
	uses     int // counts leases, so that an idle timer knows its time is over
	idle     *time.Timer
	// contextSize is how many tokens a slot holds, 0 when the server didn't tell.
	contextSize int
	// uncountedUntil is until when the server isn't asked to count tokens, in Unix nanoseconds; any
	// lease may set it.
	uncountedUntil atomic.Int64

	endpoint Endpoint // set before ready
	name     string   // how messages call an attached server; set before ready
	child    *child   // nil when attached; set while starting
	health   *health  // set before ready
	// planBegan and planEnded are when the start was planned, zero when it wasn't; set before ready.
	planBegan, planEnded time.Time

	ctx   context.Context   // ends when the instance is to stop
	stop  func(*wire.Fault) // ends ctx and says why; the first reason counts
	ended chan struct{}     // closed when a spawned server is gone and the next may start
}

func newInstance() *instance {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &instance{
		ctx:   ctx,
		stop:  func(fault *wire.Fault) { cancel(asError(fault)) },
		ended: make(chan struct{}),
	}
}

// asError keeps a nil fault from becoming an error that isn't nil.
func asError(fault *wire.Fault) error {
	if fault == nil {
		return nil
	}
	return fault
}

// dead reports whether a spawned server has ended already, before its goroutine took notice.
func (i *instance) dead() bool { return i.child != nil && i.child.gone() }

// stopped is why the instance is to stop, nil when it isn't.
func (i *instance) stopped() *wire.Fault {
	fault, _ := context.Cause(i.ctx).(*wire.Fault)
	return fault
}

// release gives up the connections and waits for the last health question.
func (i *instance) release() {
	i.stop(nil)
	if i.idle != nil {
		i.idle.Stop()
	}
	if i.health != nil {
		i.health.close()
	}
	if i.endpoint.Client != nil {
		i.endpoint.Client.CloseIdleConnections()
	}
}

// logReady says what answers from now on. Attaching is no news to who named the address.
func (s *Server) logReady(i *instance, took time.Duration) {
	level, what := slog.LevelInfo, "llama-server is ready"
	if s.options.attached() {
		level, what = slog.LevelDebug, "attached to a model server"
	}
	s.options.Logger.Log(context.Background(), level, what, "server", cmp.Or(i.name, s.options.Binary), "model", s.options.ModelName, "load_ms", took.Milliseconds())
}

// run is the goroutine of an instance: of a spawned one until its end, of an attached one until it has
// been checked.
func (s *Server) run(i *instance) {
	defer s.running.Done()
	start := time.Now()
	var fault *wire.Fault
	if s.options.attached() {
		fault = s.attach(i)
	} else {
		fault = s.spawn(i)
	}
	if fault == nil {
		s.logReady(i, time.Since(start))
		s.open(i)
		if i.child == nil {
			return
		}
		s.supervise(i)
	}
	if i.child != nil {
		i.child.finish()
		i.release()
	}
	s.end(i, fault)
}

// open lets the leases begin.
func (s *Server) open(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.state, i.readyAt = ready, time.Now()
	s.delay = 0
	s.enterLocked(i, PhaseQueue)
	s.dispatchLocked()
}

// supervise returns when the server has ended, by itself or because it was told to.
func (s *Server) supervise(i *instance) {
	select {
	case <-i.child.Done():
		s.options.Logger.Warn("llama-server ended", "state", i.child.State())
	case <-i.ctx.Done():
		i.child.Stop(s.options.StopTimeout)
	}
}

// end makes way for the next start, with which those who wait go on unless this one failed.
func (s *Server) end(i *instance, fault *wire.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault != nil {
		s.failLocked(fault)
	}
	if s.options.attached() {
		i.state = unchecked
		return
	}
	s.current = nil
	close(i.ended)
	s.dispatchLocked()
}

// setPhase returns a function that tells those who wait what they wait for.
func (s *Server) setPhase(i *instance, phase Phase) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.enterLocked(i, phase)
	}
}
