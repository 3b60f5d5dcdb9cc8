package execute

import (
	"context"
	"slices"
	"sync"

	"sluice/internal/wire"
)

// admission lets a number of chats run at once; the others wait in arrival order, up to a bound. Those
// that run come to the servers in arrival order too, though each runs in a goroutine of its own.
type admission struct {
	maxWaiting int
	maxBytes   int64

	mu      sync.Mutex
	free    int       // how many more may run now
	waiting []*ticket // in arrival order
	coming  []*ticket // that have not come to a server yet, in arrival order
	held    int       // requests that wait, those of hold included
	bytes   int64     // their sizes
}

// ticket is a place in the queue, taken when the request arrives.
type ticket struct {
	size  int
	ready chan struct{} // closed when it is the ticket's turn
	moved chan struct{} // gets a message when it may have come closer to its turn
	first chan struct{} // closed when all tickets before it have come to their servers, or gave up
}

func newTicket(size int) *ticket {
	return &ticket{size: size, ready: make(chan struct{}), moved: make(chan struct{}, 1), first: make(chan struct{})}
}

func overloaded() *wire.Fault {
	return wire.NewFault(wire.CodeOverloaded, "too many requests wait; send it again when some have been answered, or raise input.max_pending_requests or input.max_pending_bytes")
}

// enter takes a place. nil means that too many wait.
func (a *admission) enter(size int) *ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := newTicket(size)
	if a.free > 0 && len(a.waiting) == 0 {
		a.free--
		close(t.ready)
	} else if !a.holdLocked(size) {
		return nil
	} else {
		a.waiting = append(a.waiting, t)
	}
	if a.coming = append(a.coming, t); len(a.coming) == 1 {
		close(t.first)
	}
	return t
}

// arrive blocks until the ticket, whose turn it is, is the first that has not come to a server.
func (a *admission) arrive(ctx context.Context, t *ticket) error {
	select {
	case <-t.first:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// arrived says that the ticket stands in its server's queue or will never; the next may come then.
// Calling it again is harmless.
func (a *admission) arrived(t *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.Index(a.coming, t)
	if at < 0 {
		return
	}
	a.coming = slices.Delete(a.coming, at, at+1)
	if at > 0 {
		close(t.first) // it gave its place up, and comes whenever it likes
	} else if len(a.coming) > 0 {
		close(a.coming[0].first)
	}
}

// wait blocks until it is the ticket's turn; then leave must be called. While others come first, place
// is told how many. When ctx ends first the place has been given up and the cause is returned.
func (a *admission) wait(ctx context.Context, t *ticket, place func(before int)) error {
	for {
		select {
		case <-t.ready:
			return nil
		default:
		}
		if before := a.before(t); before >= 0 {
			place(before)
		}
		select {
		case <-t.ready:
			return nil
		case <-t.moved:
			continue
		case <-ctx.Done():
		}
		return a.giveUp(ctx, t)
	}
}

// before counts the tickets that wait before t; -1 when it doesn't wait any more.
func (a *admission) before(t *ticket) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Index(a.waiting, t)
}

func (a *admission) giveUp(ctx context.Context, t *ticket) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.Index(a.waiting, t)
	if at < 0 {
		return nil // its turn came in this moment
	}
	a.waiting = slices.Delete(a.waiting, at, at+1)
	a.dropLocked(t.size)
	a.movedLocked()
	return context.Cause(ctx)
}

// movedLocked tells those that wait.
func (a *admission) movedLocked() {
	for _, t := range a.waiting {
		select {
		case t.moved <- struct{}{}:
		default:
		}
	}
}

// leave ends the run of a ticket and lets the next one run.
func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaveLocked()
}

func (a *admission) leaveLocked() {
	if len(a.waiting) == 0 {
		a.free++
		return
	}
	next := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	a.dropLocked(next.size)
	close(next.ready)
	a.movedLocked()
}

// park lets the next one run in place of a ticket that has to wait for something else; it counts as
// waiting until rejoin returns.
func (a *admission) park(size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held++
	a.bytes += int64(size)
	a.leaveLocked()
}

// rejoin blocks until the ticket that was parked may run again: it comes before all that have not run.
// When ctx ends first it counts as having left.
func (a *admission) rejoin(ctx context.Context, size int) error {
	t := newTicket(size)
	a.mu.Lock()
	if a.free > 0 && len(a.waiting) == 0 {
		a.free--
		a.dropLocked(size)
		close(t.ready)
	} else {
		a.waiting = slices.Insert(a.waiting, 0, t)
	}
	a.mu.Unlock()
	return a.wait(ctx, t, func(int) {})
}

// hold counts a request that waits without being in the queue; false means that too many do.
func (a *admission) hold(size int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holdLocked(size)
}

func (a *admission) holdLocked(size int) bool {
	if a.held >= a.maxWaiting || a.bytes+int64(size) > a.maxBytes {
		return false
	}
	a.held++
	a.bytes += int64(size)
	return true
}

// drop undoes hold.
func (a *admission) drop(size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLocked(size)
}

func (a *admission) dropLocked(size int) {
	a.held--
	a.bytes -= int64(size)
}
