package llama

import (
	"context"
	"slices"
	"sync"
	"time"

	"sluice/internal/process"
	"sluice/internal/wire"
)

// Server is one llama-server, attached or spawned, and the queue for its slots.
type Server struct {
	options  ServerOptions
	launcher *process.Launcher
	owned    bool // the launcher is ours to close

	mu       sync.Mutex
	closed   bool
	current  *instance     // nil when nothing is known to run; the next waiter makes one
	waiting  []*waiter     // for a slot, in arrival order
	warming  []*waiter     // for the loaded model alone
	changed  chan struct{} // closed and replaced when the phase changes
	delay    time.Duration // before the next start; 0 after a start that succeeded
	failedAt time.Time     // when the last start failed
	running  sync.WaitGroup
}

// waiter is one Acquire or Warm that waits.
type waiter struct {
	arrived time.Time
	done    chan struct{} // closed once lease or fault is set, or for a Warm neither
	lease   *Lease
	fault   *wire.Fault
}

// NewServer returns a Server, which its owner closes. Nothing starts before the first Acquire or Warm.
func NewServer(o ServerOptions) *Server {
	s := &Server{options: o.withDefaults(), launcher: o.Launcher, changed: make(chan struct{})}
	if s.launcher == nil {
		s.launcher, s.owned = process.NewLauncher(process.LauncherOptions{Logger: o.Logger}), true
	}
	return s
}

// Acquire waits until the model is loaded and a slot is free, in arrival order, and starts the server
// or attaches to it where needed, once for all who wait. phase, which may be nil, is told what is
// waited for, in the caller's goroutine. The error is a *wire.Fault, or the cause of ctx; a start goes
// on without the caller who gave up, for the next one.
func (s *Server) Acquire(ctx context.Context, phase func(Phase)) (*Lease, error) {
	w := newWaiter()
	if err := s.await(ctx, w, &s.waiting, phase); err != nil {
		return nil, err
	}
	return w.lease, nil
}

// Warm is Acquire without a slot: it returns once the model is loaded.
func (s *Server) Warm(ctx context.Context, phase func(Phase)) error {
	return s.await(ctx, newWaiter(), &s.warming, phase)
}

func newWaiter() *waiter { return &waiter{arrived: time.Now(), done: make(chan struct{})} }

// await puts w into queue and waits for its turn.
func (s *Server) await(ctx context.Context, w *waiter, queue *[]*waiter, phase func(Phase)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return closedFault()
	}
	*queue = append(*queue, w)
	s.dispatchLocked()
	s.mu.Unlock()
	return s.follow(ctx, w, phase)
}

// PID returns the process id of the spawned server, which is also its group's; 0 while none runs.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.child == nil || s.current.child.gone() {
		return 0
	}
	return s.current.child.PID()
}

// follow tells the phases until w is done.
func (s *Server) follow(ctx context.Context, w *waiter, phase func(Phase)) error {
	for said := Phase(""); ; {
		s.mu.Lock()
		now, changed := s.phaseLocked(), s.changed
		s.mu.Unlock()
		select {
		case <-w.done:
			return asError(w.fault)
		default:
		}
		if phase != nil && now != said {
			phase(now)
			said = now
		}
		select {
		case <-w.done:
			return asError(w.fault)
		case <-changed:
		case <-ctx.Done():
			s.abandon(w)
			return context.Cause(ctx)
		}
	}
}

// abandon takes back a waiter, whose turn may have come in the same moment.
func (s *Server) abandon(w *waiter) {
	s.mu.Lock()
	same := func(other *waiter) bool { return other == w }
	s.waiting = slices.DeleteFunc(s.waiting, same)
	s.warming = slices.DeleteFunc(s.warming, same)
	s.mu.Unlock()
	if w.lease != nil {
		w.lease.Release()
	}
}

// phaseLocked is what everybody who still waits waits for.
func (s *Server) phaseLocked() Phase {
	if s.current == nil {
		return PhaseServerStart
	}
	return s.current.phase
}

// enterLocked says what is waited for from now on.
func (s *Server) enterLocked(i *instance, phase Phase) {
	if i.phase != phase {
		i.phase = phase
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// dispatchLocked gives what there is to those who wait, and starts a server where there is none. It is
// called after every change.
func (s *Server) dispatchLocked() {
	if len(s.waiting)+len(s.warming) > 0 {
		s.ensureLocked()
	}
	i := s.current
	if i == nil || i.state != ready || i.dead() {
		return
	}
	for _, w := range s.warming {
		close(w.done)
	}
	s.warming = nil
	for len(s.waiting) > 0 && (i.capacity == 0 || i.taken < i.capacity) {
		w := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		w.lease = s.leaseLocked(i, w.arrived)
		close(w.done)
	}
	s.watchIdleLocked(i)
}

// ensureLocked starts a server, or the check of an attached one, unless one is there or on its way.
func (s *Server) ensureLocked() {
	if s.closed {
		return
	}
	if s.current == nil {
		s.current = newInstance()
	}
	if i := s.current; i.state == unchecked {
		i.state = starting
		s.enterLocked(i, PhaseServerStart)
		s.running.Add(1)
		go s.run(i)
	}
}

func (s *Server) leaseLocked(i *instance, arrived time.Time) *Lease {
	i.taken++
	i.uses++
	l := &Lease{Endpoint: i.endpoint, server: s, instance: i}
	if i.readyAt.After(arrived) {
		l.Load, arrived = i.readyAt.Sub(arrived), i.readyAt
	}
	l.Queue = time.Since(arrived)
	return l
}

// failLocked ends everybody's wait with a fault.
func (s *Server) failLocked(fault *wire.Fault) {
	for _, w := range slices.Concat(s.waiting, s.warming) {
		w.fault = fault
		close(w.done)
	}
	s.waiting, s.warming = nil, nil
}

// watchIdleLocked arms the idle timer of a spawned server that nobody uses.
func (s *Server) watchIdleLocked(i *instance) {
	if i.idle != nil {
		i.idle.Stop()
		i.idle = nil
	}
	if i.child == nil || s.options.IdleTimeout <= 0 || i.taken > 0 {
		return
	}
	uses := i.uses
	i.idle = time.AfterFunc(s.options.IdleTimeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i.state == ready && i.uses == uses && i.taken == 0 {
			i.state = ending
			s.enterLocked(i, PhaseServerStart)
			i.stop(startFault("llama-server was stopped because nobody used it; try again"))
		}
	})
}
