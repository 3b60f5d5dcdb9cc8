package execute

import (
	"context"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// defaultUser is whose sessions a chat belongs to that names no user (protocol-ndjson-v1, chat params).
const defaultUser = "default_user"

// run runs the agent turn.
func (t *turn) run() error {
	c, o := t.chat, &t.execute.options
	options := agent.Options{
		Agent:  c.agent.turns(),
		UserID: c.user, SessionID: c.session, TraceID: t.done.TraceID,
		Input: c.params.Input, Resume: c.params.Resume,
		MaxParseErrors: o.MaxParseErrors, ResultBytes: o.ToolResultBytes, ASCII: o.ASCII, CallIDs: c.extensions.Approval || c.stream != nil,
		Model: t, Tools: o.Tools, Sessions: inOrder{o.Sessions, &t.execute.arrivals, c.arrival}, Memory: o.Memory,
		Approvals: asker{&t.execute.approvals, c, c.extensions.Approval},
		Event:     c.out.Event, Progress: t.progress,
		Yield: func() { t.execute.queue.arrived(c.ticket) },
		Warm: func(ctx context.Context) (err error) {
			t.execute.shielded(func() { err = o.Models.Warm(ctx, c.agent.Model) })
			return err
		},
		Park: t.park, Unpark: t.unpark,
		Logger: o.Logger,
	}
	if c.params.Agent == "" {
		options.ByName = t.byName
	}
	return agent.Run(c.ctx, options, &t.result)
}

// byName implements agent.Options.ByName.
func (t *turn) byName(name string) (agent.Agent, bool) {
	found, fault := t.execute.agent(name)
	if name == "" || fault != nil {
		return agent.Agent{}, false
	}
	t.chat.agent = found
	return found.turns(), true
}

// turns is what of an agent its turns go by.
func (a *Agent) turns() agent.Agent {
	return agent.Agent{
		Name: a.Name, SystemPrompt: a.SystemPrompt, MaxSteps: max(a.MaxSteps, 1),
		MaxTokens: a.MaxTokens, Temperature: a.Temperature, Tools: a.Tools,
	}
}

// progress tells what the turn waits for besides its model.
func (t *turn) progress(what *wire.Progress) {
	if what != nil {
		t.chat.state.Store(stateTools)
	}
	t.chat.out.Progress(what)
}

// park gives up the turn's places while another chat has its session: in the order of arrival at the
// servers, and among those that run.
func (t *turn) park() {
	t.parked, t.held, t.parkedFrom = true, true, time.Now()
	t.chat.state.Store(stateSession)
	t.chat.out.Progress(&wire.Progress{Stage: wire.PhaseQueue, Fraction: -1, Detail: "another chat of this session runs"})
	t.execute.queue.arrived(t.chat.ticket)
	t.execute.queue.park(t.chat.ticket.size)
}

// unpark waits for a place among those that run.
func (t *turn) unpark(ctx context.Context) error {
	defer func() { t.timings.Queue += time.Since(t.parkedFrom) }()
	defer t.chat.out.Progress(nil)
	t.held = false
	t.chat.state.Store(stateWaiting)
	if err := t.execute.queue.rejoin(ctx, t.chat.ticket.size); err != nil {
		return err
	}
	t.parked = false
	return nil
}

// leave gives up what places the turn has at its end.
func (t *turn) leave() {
	switch {
	case !t.parked:
		t.execute.queue.leave()
	case t.held:
		t.execute.queue.drop(t.chat.ticket.size)
	}
}
