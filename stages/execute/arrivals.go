package execute

import (
	"context"
	"slices"
	"sync"

	"sluice/stages/execute/agent"
)

// arrivals let the chats of a session come to it in the order in which they were accepted, though each
// runs in a goroutine of its own: a host that sends two means the second as the answer to the first.
type arrivals struct {
	mu     sync.Mutex
	coming map[sessionKey][]*arrival // that have not come yet, in arrival order
}

// sessionKey names a session.
type sessionKey struct{ user, session string }

// arrival is a chat's place on the way to its session.
type arrival struct {
	sessionKey
	first chan struct{} // closed when all before it have come, or gave up
}

// enter takes a place, which came gives up.
func (a *arrivals) enter(key sessionKey) *arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.coming == nil {
		a.coming = map[sessionKey][]*arrival{}
	}
	place := &arrival{key, make(chan struct{})}
	if len(a.coming[key]) == 0 {
		close(place.first)
	}
	a.coming[key] = append(a.coming[key], place)
	return place
}

// came says that the chat stands in its session's queue or will never; the next may come then. Calling
// it again is harmless.
func (a *arrivals) came(place *arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.coming[place.sessionKey]
	at := slices.Index(list, place)
	if at < 0 {
		return
	}
	list = slices.Delete(list, at, at+1)
	if len(list) == 0 {
		delete(a.coming, place.sessionKey)
		return
	}
	a.coming[place.sessionKey] = list
	if at == 0 {
		close(list[0].first)
	}
}

// inOrder are the sessions as one chat comes to them. It implements agent.Sessions.
type inOrder struct {
	agent.Sessions
	arrivals *arrivals
	place    *arrival
}

// Open implements agent.Sessions.
func (s inOrder) Open(ctx context.Context, user, session string, waiting func()) (agent.Session, error) {
	select {
	case <-s.place.first:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer s.arrivals.came(s.place)
	return s.Sessions.Open(ctx, user, session, func() {
		s.arrivals.came(s.place)
		waiting()
	})
}
