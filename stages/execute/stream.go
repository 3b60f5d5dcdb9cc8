package execute

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"sluice/internal/wire"
)

// stream is what a chat of JSON-RPC has besides.
type stream struct {
	asked  wire.Request // chat/start, without its params
	params *wire.ChatStartParams
	place  *order // nil of a chat that names the profile local
	// run is set by open where a gateway answers.
	run Run

	// Guarded by the registry's lock.
	account  Account // set by open where a gateway answers
	answered bool    // chat/start was answered: it is a stream for the host
}

// acceptStream takes a chat of JSON-RPC in, or refuses it at once.
func (e *Execute) acceptStream(r *wire.Request) {
	p := r.Params.(*wire.ChatStartParams)
	c := &chat{id: newStreamID(), params: &wire.ChatParams{Input: p.Text}, accepted: time.Now()}
	c.stream = &stream{asked: kept(r), params: p}
	if p.Profile != wire.LocalProfile {
		c.stream.place = e.inOrderOfArrival()
	}
	c.stream.asked.Params = nil
	c.user, c.session = defaultUser, p.InteractionID
	if c.session == "" {
		c.session = newUUID()
	}
	c.state.Store(stateWaiting)
	c.ctx, c.cancel = context.WithCancelCause(e.ctx)
	if fault := e.admit(c, r.Size); fault != nil {
		c.cancel(nil)
		c.stream.place.pass()
		e.answer(r, fault)
		return
	}
	c.out = e.options.Output.Chat(c.id, Extensions{})
	go func() {
		defer e.running.Done()
		e.run(c)
	}()
}

// newStreamID returns the JSON text of a random id.
func newStreamID() wire.ID { return wire.ID(`"` + randomHex(16) + `"`) }

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// open finds who answers, and answers chat/start: from then on the host knows of the stream.
func (t *turn) open() (err error) {
	defer func() {
		if fault := t.execute.recovered(recover()); fault != nil {
			err = fault
		}
	}()
	c, e := t.chat, t.execute
	defer c.stream.place.pass()
	if err := c.stream.place.come(c.ctx); err != nil {
		return err
	}
	profile, err := e.options.RPC.Profiles.Resolve(c.stream.params.Profile)
	if err != nil {
		return err
	}
	c.stream.place.pass()
	started := &wire.ChatStarted{Stream: c.id, InteractionID: c.session}
	if profile.Local() {
		err = t.openLocal(started)
	} else {
		err = t.openRemote(profile, started)
	}
	if err != nil {
		return err
	}
	e.chats.answered(c)
	e.answers.add(wire.MethodChatStart, nil)
	c.out.Accept(c.stream.asked.ID, started)
	return nil
}

func (t *turn) openLocal(started *wire.ChatStarted) error {
	p := t.chat.stream.params
	agent, fault := t.execute.localAgent(p.WorkflowID)
	switch {
	case fault != nil:
		return fault
	case !p.IsText:
		return wire.NewFault(wire.CodeUsage, "the agents of the profile local take text alone: a string, or content blocks of the type text")
	}
	t.chat.agent = agent
	started.WorkflowID, started.WorkflowName = agent.Name, agent.Name
	return nil
}

// openRemote gives up the places on the way to a model server and to a local session.
func (t *turn) openRemote(profile wire.Profile, started *wire.ChatStarted) error {
	c, e := t.chat, t.execute
	e.queue.arrived(c.ticket)
	e.arrivals.came(c.arrival)
	if c.session == "." || c.session == ".." { // StopRun couldn't name it in a path
		return wire.NewFault(wire.CodeInvalidParams, "interactionId can't be . or .. at a gateway: leave it out for a new conversation")
	}
	p, account := c.stream.params, e.options.RPC.Accounts.Account(profile)
	if err := account.SignedIn(c.ctx); err != nil {
		return err
	}
	started.WorkflowID, started.WorkflowName = p.WorkflowID, p.WorkflowName
	if p.WorkflowName == "" {
		found, err := account.FindWorkflow(c.ctx, p.WorkflowID)
		if err != nil {
			return err
		}
		started.WorkflowID, started.WorkflowName = found.WorkflowID, found.WorkflowName
	}
	e.chats.atGateway(c, account)
	c.stream.run = account.Chat(wire.RemoteChat{
		WorkflowID: started.WorkflowID, WorkflowName: started.WorkflowName, InteractionID: c.session, Input: p.Input,
	})
	return nil
}

// refuse answers chat/start with why there is no stream.
func (t *turn) refuse(err error) {
	c, e := t.chat, t.execute
	c.cancel(err)
	if e.queue.wait(c.ctx, c.ticket, func(int) {}) == nil {
		e.queue.leave()
	}
	e.chats.end(c, func(cancelled bool) {
		if cancelled {
			err = errCancelled
		}
		e.answer(&c.stream.asked, e.faultOf(err))
	})
}

// relay streams the run of a gateway.
func (t *turn) relay() error {
	c := t.chat
	c.state.Store(stateRunning)
	o, err := c.out.Relay(c.ctx, c.stream.run, func(n int64) { c.tokens.Add(n) })
	t.timings.Upstream = o.Upstream
	if !o.FirstToken.IsZero() {
		t.timings.TTFT = o.FirstToken.Sub(c.accepted)
	}
	return err
}
