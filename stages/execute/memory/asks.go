package memory

import (
	"context"
	"sync"
	"time"
)

// asks are the Retrieves that wait for the index to follow the journal. Those that gather while it is
// being followed are served together the next time.
type asks struct {
	wake  chan struct{} // holds one; received from by the goroutine that keeps the index
	mutex sync.Mutex
	done  []chan struct{} // closed by that goroutine
}

// wait asks for a look at the journal and waits until it is over, for limit at most. The only error
// is the cause of ctx.
func (a *asks) wait(ctx context.Context, limit time.Duration) error {
	done := make(chan struct{})
	a.mutex.Lock()
	a.done = append(a.done, done)
	a.mutex.Unlock()
	signal(a.wake)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// take returns those that wait; the caller closes each.
func (a *asks) take() []chan struct{} {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	done := a.done
	a.done = nil
	return done
}

// signal makes sure that something is in a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
