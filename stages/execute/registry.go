package execute

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

// errCancelled is the cause of a chat that the host cancelled.
var errCancelled = errors.New("execute: cancelled by the host")

// chat is one accepted chat. Its goroutine owns it; what others read is atomic or guarded by the
// registry's lock.
type chat struct {
	id         wire.ID
	params     *wire.ChatParams
	user       string // params.UserID, or the default one
	session    string // params.SessionID, or a random one
	agent      *Agent
	ticket     *ticket
	arrival    *arrival
	accepted   time.Time
	ctx        context.Context
	cancel     context.CancelCauseFunc
	extensions Extensions
	out        Chat
	stream     *stream // of JSON-RPC; nil otherwise

	state  atomic.Value // of string, for stats
	tokens atomic.Int64

	// Guarded by the registry's lock.
	cancelledAt time.Time // set by the first cancel
}

// registry knows the chats that have not had their final frame.
type registry struct {
	mu   sync.Mutex
	byID map[wire.ID]*chat
}

// add registers a chat; false when its id is taken.
func (r *registry) add(c *chat) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byID[c.id]; taken {
		return false
	}
	r.byID[c.id] = c
	return true
}

// only returns the id of the one active chat, and how many there are.
func (r *registry) only() (wire.ID, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byID) == 1 {
		for id := range r.byID {
			return id, 1
		}
	}
	return "", len(r.byID)
}

// cancel ends a chat; false when there is none that could still be cancelled.
func (r *registry) cancel(id wire.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.byID[id]
	if c == nil {
		return false
	}
	if c.cancelledAt.IsZero() {
		c.cancelledAt = time.Now()
		c.cancel(errCancelled)
	}
	return true
}

// end decides a chat's outcome: final hands over its final frame, and the id is free. That is one
// step, so that a cancel which was told true finds its chat cancelled, and a host that has read the
// final frame may use the id again. final must not block.
func (r *registry) end(c *chat, final func(cancelled bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, c.id)
	final(!c.cancelledAt.IsZero())
}

// remove forgets a chat that was refused after all.
func (r *registry) remove(c *chat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, c.id)
}

// stats lists the chats, oldest first.
func (r *registry) stats() []wire.ChatStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]wire.ChatStats, 0, len(r.byID))
	for _, c := range r.byID {
		list = append(list, wire.ChatStats{ID: c.id, State: c.state.Load().(string), Since: time.Since(c.accepted), Tokens: c.tokens.Load()})
	}
	slices.SortFunc(list, func(a, b wire.ChatStats) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.ID, b.ID))
	})
	return list
}
