package execute

import (
	"context"

	"sluice/internal/wire"
)

// stopped is what chat/stop found at once: streams that it has cancelled, and whom to ask for the rest.
type stopped struct {
	cancelled   bool
	interaction string
	account     Account // of a stream at a gateway
}

// acceptStop ends streams at once, and the run at the gateway beside everything else.
func (e *Execute) acceptStop(r *wire.Request) {
	p := r.Params.(*wire.StreamParams)
	found := e.chats.detach(p)
	how := aside{answer: func(e *Execute, ctx context.Context, profile wire.Profile, _ any) (wire.Reply, error) {
		return e.stopRun(ctx, profile, found)
	}}
	if !found.cancelled && found.interaction != "" {
		how.profile = func(any) string { return p.Profile }
	}
	e.answerAside(r, how)
}

// stopRun ends the run. The profile is whose run it is where we have no stream of it.
func (e *Execute) stopRun(ctx context.Context, profile wire.Profile, found stopped) (wire.Reply, error) {
	switch {
	case found.cancelled && found.account == nil: // our own turn, or one that was not sent yet
		return &wire.StopResult{Cancelled: true, Stopped: true}, nil
	case !found.cancelled && (found.interaction == "" || profile.Local()):
		return &wire.StopResult{Reason: wire.StopNotRunning}, nil
	case !found.cancelled:
		found.account = e.options.RPC.Accounts.Account(profile)
	}
	reason, err := found.account.StopRun(ctx, found.interaction)
	if err != nil && !found.cancelled {
		return nil, err
	}
	if err != nil {
		reason = wire.StopError
	}
	return &wire.StopResult{Cancelled: found.cancelled, Stopped: reason == wire.StopDone, Reason: reason}, nil
}

// detach cancels the stream that is named, or all of a conversation.
func (r *registry) detach(p *wire.StreamParams) (found stopped) {
	found.interaction = p.InteractionID
	for _, c := range r.matching(p) {
		if !r.cancel(c.id) {
			continue
		}
		found.cancelled, found.interaction = true, c.session
		r.mu.Lock()
		if c.stream.account != nil {
			found.account = c.stream.account
		}
		r.mu.Unlock()
	}
	return found
}

func (r *registry) matching(p *wire.StreamParams) (list []*chat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.byID {
		if c.id == p.Stream || p.Stream == "" && c.session == p.InteractionID {
			list = append(list, c)
		}
	}
	return list
}

// streams counts the streams that hosts know of and that have not ended.
func (r *registry) streams() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.byID {
		if c.stream.answered {
			n++
		}
	}
	return n
}

// hasSession reports whether a turn of our own runs in a session.
func (r *registry) hasSession(session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.byID {
		if c.session == session && c.stream.account == nil {
			return true
		}
	}
	return false
}

// answered says that a host knows of a stream.
func (r *registry) answered(c *chat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.stream.answered = true
}

// atGateway says whose run a stream is.
func (r *registry) atGateway(c *chat, account Account) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.stream.account = account
}
