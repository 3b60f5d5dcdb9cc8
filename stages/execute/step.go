package execute

import (
	"context"
	"errors"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// stopPatience is how long after a cancel the server is watched for becoming idle; the chat must end
// within a second.
const stopPatience = 800 * time.Millisecond

// attempts bounds how often a model step is tried whose server turns out not to be ready.
const attempts = 3

// modelStep is one model step of a turn: it waits for a slot, streams, and gives the slot back.
type modelStep struct {
	*turn
	ctx     context.Context // the chat's
	number  int
	prepare agent.Prepare
	outcome agent.Outcome
	ended   bool // llm_done was sent
}

// Step implements agent.Model.
func (t *turn) Step(ctx context.Context, number int, prepare agent.Prepare) (agent.Outcome, error) {
	s := modelStep{turn: t, ctx: ctx, number: number, prepare: prepare}
	defer s.end() // after a panic; else it has ended
	for attempt := 1; ; attempt++ {
		if again, err := s.try(attempt == attempts); !again {
			return s.outcome, err
		}
	}
}

// try runs the model step on a new lease. It wants to be called again, but after the last attempt,
// when the server was not ready.
func (s *modelStep) try(last bool) (again bool, err error) {
	c := s.chat
	lease, err := s.acquire()
	if err != nil {
		s.end()
		return false, err
	}
	defer lease.Release()
	c.state.Store(stateRunning)
	err = s.run(lease)
	var notReady *wire.NotReady
	if errors.As(err, &notReady) && !last {
		return true, err
	}
	s.end()
	s.watchStop(lease)
	return false, err
}

// run streams the step, and once more with a shorter prompt when the server refused it as too long.
func (s *modelStep) run(lease Lease) error {
	request, err := s.prepare(s.ctx, lease, nil)
	if err != nil {
		return err
	}
	err = s.stream(lease, request)
	var overflow *wire.Overflow
	if !errors.As(err, &overflow) {
		return err
	}
	if request, err = s.prepare(s.ctx, lease, overflow); err != nil {
		return err
	}
	return s.stream(lease, request)
}

func (s *modelStep) stream(lease Lease, request *wire.ModelRequest) error {
	c := s.chat
	if !s.outcome.Began {
		s.outcome.Began = true
		c.out.Event(wire.Event{Kind: wire.EventLLMStart, Step: s.number})
	}
	o, err := c.out.Step(s.ctx, lease, s.number, request, func(n int64) { c.tokens.Add(n) })
	s.outcome.Response, s.outcome.Calls, s.outcome.Finish, s.outcome.Usage = o.Response, o.Calls, o.Finish, o.Usage
	s.timings.Upstream += o.Upstream
	if s.timings.TTFT == 0 && !o.FirstToken.IsZero() {
		s.timings.TTFT = o.FirstToken.Sub(c.accepted)
	}
	return err
}

// end gives a step that began its end.
func (s *modelStep) end() {
	if s.outcome.Began && !s.ended {
		s.ended = true
		s.chat.out.Event(wire.Event{Kind: wire.EventLLMDone, Step: s.number})
	}
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
	defer c.out.Progress(nil)
	before := t.timings
	lease, err := t.execute.options.Models.Acquire(c.ctx, c.agent.Model, t.phase)
	if err != nil {
		t.endPhase()
		return nil, err
	}
	queued, load := lease.Waited() // the server knows better than the phases that we were told
	t.timings.Queue, t.timings.Load = before.Queue+queued, before.Load+load
	t.countPlan(lease.Planned())
	return lease, nil
}

// countPlan counts what of the planning of a server's start fell into the chat's life, once for each
// start. A chat that waited for something else meanwhile has no time of loading for it to be part of.
func (t *turn) countPlan(began, ended time.Time) {
	if began.Equal(t.planned) {
		return
	}
	t.planned = began
	if began.Before(t.chat.accepted) {
		began = t.chat.accepted
	}
	t.timings.Plan += max(0, ended.Sub(began))
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
	t.chat.out.Progress(&wire.Progress{Stage: p, Fraction: -1, Detail: t.chat.agent.Model})
	if p == wire.PhaseQueue {
		t.chat.state.Store(stateQueued)
		return
	}
	t.chat.state.Store(stateStarting)
}

// watchStop measures how long the server went on after a cancel.
func (t *turn) watchStop(lease Lease) {
	if context.Cause(t.chat.ctx) != errCancelled {
		return
	}
	t.chat.state.Store(stateEnding)
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
