package llama

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/wire"
)

// Lease is one chat's right to send requests to a ready server, one at a time.
type Lease struct {
	Endpoint
	// Load is how long the chat waited for the server to be ready, Queue how long for a slot after that.
	Load, Queue time.Duration

	server   *Server
	instance *instance
	once     sync.Once
}

// Release gives the slot to the next chat. Calling it again is harmless.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.server.mu.Lock()
		defer l.server.mu.Unlock()
		l.instance.taken--
		l.server.dispatchLocked()
	})
}

// Planned tells when the start of the server was planned; zero times when it wasn't.
func (l *Lease) Planned() (began, ended time.Time) {
	return l.instance.planBegan, l.instance.planEnded
}

// Describe tells what an error on this lease's connection means and what to do. For a spawned server it
// waits up to 1 s for the end that would explain it; when it ended, the next Acquire starts another.
// An attached server is looked at anew by the next Acquire.
func (l *Lease) Describe(err error) *wire.Fault {
	var fault *wire.Fault
	if errors.As(err, &fault) {
		return fault
	}
	i := l.instance
	if l.server.options.attached() {
		l.server.recheck(i)
		return startFault("the connection to llama-server at %s broke: %v; look whether it still runs, and try again", i.name, l.plainError(err))
	}
	pause(context.Background(), i.ended, exitPatience)
	if fault := i.stopped(); fault != nil {
		return fault
	}
	if i.child.gone() {
		return startFault("llama-server ended while it answered (%s); try again, the next chat starts it%s", i.child.how(), i.child.lastLines())
	}
	return startFault("the connection to llama-server broke while it answered: %v; try again%s", l.plainError(err), i.child.lastLines())
}

// recheck has an attached server checked before the next lease.
func (s *Server) recheck(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i.state == ready {
		i.state = unchecked
		i.endpoint.Client.CloseIdleConnections()
		s.dispatchLocked()
	}
}

// Idle waits until no slot of the server works, asking /slots, and returns how long that took. It is
// false when that can't be told: the server doesn't show its slots, other chats use it, or ctx ended.
func (l *Lease) Idle(ctx context.Context) (time.Duration, bool) {
	start := time.Now()
	for wait := 10 * time.Millisecond; !l.shared(); wait = min(wait*3/2, 50*time.Millisecond) {
		busy, ok := l.busySlots(ctx)
		if !ok || l.shared() {
			return 0, false
		}
		if busy == 0 {
			return time.Since(start), true
		}
		if !pause(ctx, nil, wait) {
			return 0, false
		}
	}
	return 0, false
}

// shared reports whether other chats use the server.
func (l *Lease) shared() bool {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.instance.taken > 1
}
