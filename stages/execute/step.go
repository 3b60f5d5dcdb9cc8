package execute

import (
	"context"
	"errors"
	"time"

	"sluice/internal/wire"
)

// stopPatience is how long after a cancel the server is watched for becoming idle; the chat must end
// within a second.
const stopPatience = 800 * time.Millisecond

// attempts bounds how often a model step is tried whose server turns out not to be ready.
const attempts = 3

func (t *turn) run() error {
	c := t.chat
	c.out.Event(wire.Event{Kind: wire.EventRunStart, Detail: &wire.RunStart{UserInput: c.params.Input, TraceID: t.done.TraceID}})
	for attempt := 1; ; attempt++ {
		if again, err := t.try(attempt == attempts); !again {
			return err
		}
	}
}

// try runs the model step on a new lease. It wants to be called again, but after the last attempt,
// when the server was not ready.
func (t *turn) try(last bool) (again bool, err error) {
	c := t.chat
	lease, err := t.acquire()
	if err != nil {
		t.endStep(err)
		return false, err
	}
	defer lease.Release()
	c.state.Store(stateRunning)
	err = t.step(lease)
	var notReady *wire.NotReady
	if errors.As(err, &notReady) && !last {
		return true, err
	}
	t.endStep(err)
	c.state.Store(stateEnding)
	t.watchStop(lease)
	return false, err
}

// acquire comes to the server when all earlier chats have, and lets the next one come as soon as it
// waits there.
func (t *turn) acquire() (Lease, error) {
	c, queue := t.chat, &t.execute.queue
	t.phaseBegan, t.loading = time.Now(), false
	err := queue.arrive(c.ctx, c.ticket)
	t.endPhase()
	if err != nil {
		return nil, err
	}
	defer queue.arrived(c.ticket)
	before := t.timings
	lease, err := t.execute.options.Models.Acquire(c.ctx, c.agent.Model, t.phase)
	if err != nil {
		t.endPhase()
		return nil, err
	}
	queued, load := lease.Waited() // the server knows better than the phases that we were told
	t.timings.Queue, t.timings.Load = before.Queue+queued, before.Load+load
	return lease, nil
}

// endPhase counts the time since the phase began. Of a wait that ends without a lease nobody else tells.
func (t *turn) endPhase() {
	now := time.Now()
	spent := &t.timings.Queue
	if t.loading {
		spent = &t.timings.Load
	}
	*spent += now.Sub(t.phaseBegan)
	t.phaseBegan = now
}

func (t *turn) phase(p wire.Phase) {
	t.endPhase()
	t.loading = p != wire.PhaseQueue
	t.execute.queue.arrived(t.chat.ticket)
	if p == wire.PhaseQueue {
		t.chat.state.Store(stateQueued)
		return
	}
	t.chat.state.Store(stateStarting)
}

// step runs the one model step of the turn.
func (t *turn) step(lease Lease) error {
	c := t.chat
	if t.done.Steps == 0 {
		c.out.Event(wire.Event{Kind: wire.EventLLMStart})
	}
	outcome, err := c.out.Step(c.ctx, lease, 0, t.request(), func(n int64) { c.tokens.Add(n) })
	t.done.Response, t.done.Usage = outcome.Response, outcome.Usage
	t.done.FinishReason, t.done.Steps = outcome.Finish, 1
	t.timings.Upstream += outcome.Upstream
	if !outcome.FirstToken.IsZero() {
		t.timings.TTFT = outcome.FirstToken.Sub(c.accepted)
	}
	return err
}

// endStep gives a step that began its end, and a turn that went well its last event.
func (t *turn) endStep(err error) {
	if t.done.Steps > 0 {
		t.chat.out.Event(wire.Event{Kind: wire.EventLLMDone})
	}
	if err == nil {
		t.chat.out.Event(wire.Event{Kind: wire.EventFinal, Text: t.done.Response})
	}
}

func (t *turn) request() *wire.ModelRequest {
	a := t.chat.agent
	r := &wire.ModelRequest{MaxTokens: a.MaxTokens, Temperature: a.Temperature}
	if a.SystemPrompt != "" {
		r.Messages = append(r.Messages, wire.Message{Role: "system", Content: a.SystemPrompt})
	}
	r.Messages = append(r.Messages, wire.Message{Role: "user", Content: t.chat.params.Input})
	return r
}

// watchStop measures how long the server went on after a cancel.
func (t *turn) watchStop(lease Lease) {
	if context.Cause(t.chat.ctx) != errCancelled {
		return
	}
	t.execute.chats.mu.Lock()
	since := t.chat.cancelledAt
	t.execute.chats.mu.Unlock()
	ctx, cancel := context.WithDeadline(t.execute.ctx, since.Add(stopPatience))
	defer cancel()
	asked := time.Now()
	defer func() { t.timings.Upstream += time.Since(asked) }()
	if lease.Idle(ctx) {
		t.done.Stop = time.Since(since)
	}
}
