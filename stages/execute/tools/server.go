package tools

import (
	"log/slog"
	"sync"
	"time"

	"sluice/internal/wire"
)

const (
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
	// longLife is how long a life lasts that says nothing against the next one.
	longLife = lastBackoff
)

// server is one configured server through all its lives.
type server struct {
	m    *Manager
	name string
	o    Server
	log  *slog.Logger

	mu      sync.Mutex
	life    *life         // set while the server is ready
	current *life         // set while something of a life may run: from its start to its end
	attempt chan struct{} // closed when that start has ended; nil when none is under way
	began   time.Time     // when the attempt began
	// known are the tools of the last life, offered until it is clear that the next one can't start: a
	// server that died is started again by the next call, so its tools are still there for the model.
	known    []wire.Tool
	barred   bool          // the last start failed
	doomed   bool          // the start that is under way has failed, for fault, and is being ended
	ending   chan struct{} // closed when the last life's process is gone; nil before the first end
	failures int           // in a row
	retryAt  time.Time     // no start before
	fault    string        // why the last start failed or the last life ended
}

func newServer(m *Manager, name string, o Server) *server {
	return &server{m: m, name: name, o: o, log: m.o.Logger.With("server", name)}
}

// ensure returns the life of a ready server. Else it returns a channel that is closed when the start
// that is under way, which it may have begun, has ended; or neither, when it isn't time for another.
func (s *server) ensure() (*life, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil && s.life.isLost() {
		s.retireLocked(s.life)
	}
	if s.life != nil {
		return s.life, nil
	}
	if s.attempt != nil {
		return nil, s.attempt
	}
	if time.Now().Before(s.retryAt) {
		return nil, nil
	}
	return nil, s.beginLocked()
}

func (s *server) beginLocked() <-chan struct{} {
	attempt, before := make(chan struct{}), s.ending
	if !s.m.run(func() { s.live(attempt, before) }) {
		s.fault = "the engine is shutting down"
		return nil
	}
	s.attempt, s.began = attempt, time.Now()
	return attempt
}

// patience returns until when a List waits for the start that is under way. One that takes long delays
// only those that asked when it was young, and a server that has failed before hardly anybody.
func (s *server) patience() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.known != nil && !s.barred:
		return time.Time{} // there is nothing to wait for
	case s.barred:
		return s.began.Add(s.m.o.Patience / 20)
	}
	return s.began.Add(s.m.o.Patience)
}

// live is a life's goroutine: from before its start until nothing of it is left.
func (s *server) live(attempt, before chan struct{}) {
	if before != nil {
		<-before
	}
	l, fault := s.start()
	if fault != "" {
		s.failed(attempt, fault)
		return
	}
	s.ready(attempt, l)
	l.serve()
	s.mu.Lock()
	s.retireLocked(l)
	s.mu.Unlock()
	l.end()
	s.ended(l)
}

// start begins a life with the handshake that servers of today have, or, where the server wants
// another, with that of the newest protocol.
func (s *server) start() (*life, string) {
	l, err := s.try(handshakeProtocol)
	if wantsNewest(err) {
		l, err = s.try("")
	}
	if err != nil {
		return nil, s.o.Clean(l.why(err))
	}
	return l, ""
}

// try makes one life. With an error nothing of it is left.
func (s *server) try(protocol string) (*life, error) {
	l := newLife(s)
	s.mu.Lock()
	s.current = l
	s.mu.Unlock()
	err := l.start(protocol)
	if err != nil {
		s.doom(l, err)
		l.end()
	}
	return l, err
}

// doom tells those who ask while a life that can't start is still being ended.
func (s *server) doom(l *life, err error) {
	if wantsNewest(err) || !isTold(err) {
		return // it may start yet, or its end tells more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.doomed = s.o.Clean(l.why(err)), true
}

func (s *server) ready(attempt chan struct{}, l *life) {
	s.mu.Lock()
	s.life, s.attempt, s.ending, s.barred, s.doomed = l, nil, l.gone, false, false
	s.mu.Unlock()
	s.m.generation.Add(1)
	close(attempt)
	s.log.Debug("MCP server is ready", "tools", len(l.catalog.Load().tools))
}

func (s *server) failed(attempt chan struct{}, fault string) {
	s.mu.Lock()
	s.current, s.attempt, s.fault, s.barred, s.doomed = nil, nil, fault, true, false
	s.failures++
	s.retryAt = time.Now().Add(backoff(s.failures))
	s.mu.Unlock()
	close(attempt)
	if s.m.ctx.Err() == nil {
		s.log.Warn("MCP server has not started", "reason", fault)
	}
}

// retireLocked takes a life that ends out of use. The first early end costs no wait: the server is
// started again at the next call.
func (s *server) retireLocked(l *life) {
	if s.life != l {
		return
	}
	s.life, s.known = nil, l.catalog.Load().tools
	if time.Since(l.since) >= longLife {
		s.failures = 0
	}
	s.retryAt = time.Now().Add(backoff(s.failures))
	s.failures++
	s.fault = "it ended" // until ended knows more
	s.m.generation.Add(1)
}

// ended records how a life ended, for those who asked it and for the next warning.
func (s *server) ended(l *life) {
	l.reason = s.o.Clean(l.explainEnd())
	s.mu.Lock()
	s.current, s.fault = nil, l.reason
	s.mu.Unlock()
	close(l.gone)
	if s.m.ctx.Err() == nil {
		s.log.Warn("MCP server ended; it is started again when it is needed", "reason", l.reason)
	}
}

// useful forgets earlier failures: the server answered a call. The life may have ended since.
func (s *server) useful() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.retryAt = 0, time.Time{}
}

// kill cuts short what runs.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.kill()
	}
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Name: s.name, State: StateIdle, Fault: s.fault}
	switch {
	case s.life != nil && !s.life.isLost():
		status.State, status.Tools = StateReady, len(s.life.catalog.Load().tools)
	case s.attempt != nil:
		status.State = StateStarting
	case s.fault != "":
		status.State = StateFailed
	}
	return status
}

// backoff is the wait after so many failures in a row.
func backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(firstBackoff<<min(failures-1, 10), lastBackoff)
}
