package demo

import (
	"context"
	"sync/atomic"
)

// slots are the places for answers under way, as llama-server has them.
type slots struct {
	free chan int      // ids of idle slots
	busy []atomic.Bool // by id
}

func newSlots(count int) *slots {
	s := &slots{free: make(chan int, count), busy: make([]atomic.Bool, count)}
	for id := range count {
		s.free <- id
	}
	return s
}

// take waits for an idle slot, in order of arrival, or for the context to end.
// The caller hands the slot back to release.
func (s *slots) take(ctx context.Context) (id int, err error) {
	select {
	case id = <-s.free:
		s.busy[id].Store(true)
		return id, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (s *slots) release(id int) {
	s.busy[id].Store(false)
	s.free <- id
}
