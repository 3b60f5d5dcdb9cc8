package session

import (
	"context"
	"sync"
)

// key names a session. Users are strictly apart: nothing is ever looked up by the session's id alone.
type key struct{ user, session string }

// queues lets one chat of this process at a time have a session, in the order of their arrival.
type queues struct {
	mu sync.Mutex
	// waiting holds a channel for each chat that waits, behind the entry of the one that has the
	// session; the channel is closed when it is the chat's turn.
	waiting map[key][]chan struct{}
}

// join waits until the session is the caller's, who leaves the queue with leave. waiting, which may be
// nil, is called once before it waits.
func (q *queues) join(ctx context.Context, k key, waiting func()) error {
	turn, first := q.enter(k)
	if first {
		return nil
	}
	if waiting != nil {
		waiting()
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		q.giveUp(k, turn)
		return context.Cause(ctx)
	}
}

func (q *queues) enter(k key) (turn chan struct{}, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[key][]chan struct{}{}
	}
	turn = make(chan struct{})
	q.waiting[k] = append(q.waiting[k], turn)
	return turn, len(q.waiting[k]) == 1
}

// giveUp takes a chat out that no longer waits, wherever it stands.
func (q *queues) giveUp(k key, turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.waiting[k]
	for i, other := range list {
		if other != turn {
			continue
		}
		if i == 0 {
			q.leaveLocked(k)
		} else {
			q.waiting[k] = append(list[:i:i], list[i+1:]...)
		}
		return
	}
}

// leave gives the session to the next.
func (q *queues) leave(k key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leaveLocked(k)
}

func (q *queues) leaveLocked(k key) {
	list := q.waiting[k][1:]
	if len(list) == 0 {
		delete(q.waiting, k)
		return
	}
	q.waiting[k] = list
	close(list[0])
}

// busy reports whether a chat of this process has any session.
func (q *queues) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}
