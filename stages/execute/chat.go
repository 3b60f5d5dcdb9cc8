package execute

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// ChatStates are all states that stats tells of a chat.
var ChatStates = []string{stateWaiting, stateSession, stateStarting, stateQueued, stateRunning, stateTools, stateEnding}

// The states of a chat that stats tells.
const (
	stateWaiting  = "waiting"  // for its turn, max_parallel_chats run
	stateSession  = "session"  // for another chat of its session
	stateStarting = "starting" // the server starts or its model loads
	stateQueued   = "queued"   // for a slot of the server
	stateRunning  = "running"
	stateTools    = "tools" // tools run, or their servers are being connected
	stateEnding   = "ending"
)

// acceptChat takes a chat in, or refuses it at once.
func (e *Execute) acceptChat(r *wire.Request) {
	c := &chat{id: wire.ID(strings.Clone(string(r.ID))), params: r.Params.(*wire.ChatParams), accepted: time.Now()}
	c.user, c.session = cmp.Or(c.params.UserID, defaultUser), cmp.Or(c.params.SessionID, randomHex(4))
	c.state.Store(stateWaiting)
	c.ctx, c.cancel = context.WithCancelCause(e.ctx)
	if fault := e.admit(c, r.Size); fault != nil {
		c.cancel(nil)
		e.reply(r.Method, r.ID, fault)
		return
	}
	e.mu.Lock()
	c.extensions = e.extensions
	e.mu.Unlock()
	c.out = e.options.Output.Chat(c.id, c.extensions)
	go func() {
		defer e.running.Done()
		e.run(c)
	}()
}

func (e *Execute) admit(c *chat, size int) (fault *wire.Fault) {
	if c.stream == nil { // a stream's agent is known once its profile is
		if c.agent, fault = e.agent(c.params.Agent); fault != nil {
			return fault
		}
	}
	if !e.begin() {
		return stopping()
	}
	defer func() {
		if fault != nil {
			e.running.Done()
		}
	}()
	if !e.chats.add(c) {
		return wire.NewFault(wire.CodeInvalidRequest, "a chat with this id is running; give every request an id of its own")
	}
	if c.ticket = e.queue.enter(size); c.ticket == nil {
		e.chats.remove(c)
		return overloaded()
	}
	c.arrival = e.arrivals.enter(sessionKey{c.user, c.session})
	return nil
}

// run is the goroutine of one chat: whatever happens, it ends with exactly one final frame.
func (e *Execute) run(c *chat) {
	defer c.cancel(nil)
	defer e.queue.arrived(c.ticket)
	defer e.arrivals.came(c.arrival)
	t := turn{execute: e, chat: c, done: &wire.ChatDone{Stop: -1}}
	t.fill()
	if c.stream != nil {
		if err := t.open(); err != nil {
			t.refuse(err)
			return
		}
	}
	err := t.wait()
	if err == nil {
		err = t.guarded()
		t.leave()
	}
	t.finish(err)
}

// turn is what one chat does and what came of it.
type turn struct {
	execute *Execute
	chat    *chat
	done    *wire.ChatDone
	timings wire.Timings
	// result is filled while the turn runs.
	result agent.Result
	// parked says that the turn has given up its place among those that run, held that it counts as
	// one that waits.
	parked, held bool
	parkedFrom   time.Time
	// What is waited for on the way to a server, and since when.
	phaseBegan time.Time
	loading    bool
	// planned is when the newest server that the turn met was planned.
	planned time.Time
}

// fill sets what every final frame tells.
func (t *turn) fill() {
	t.done.SessionID = t.chat.session
	t.done.TraceID = randomHex(8)
	t.result.Warnings = []string{}
}

// wait blocks until the chat may run: its turn has come and the reader owes us nothing.
func (t *turn) wait() error {
	c, e := t.chat, t.execute
	defer func() { t.timings.Queue = time.Since(c.accepted) }()
	if err := e.queue.wait(c.ctx, c.ticket, t.place); err != nil {
		return err
	}
	c.out.Progress(nil)
	if err := e.options.Output.Gate(c.ctx); err != nil {
		e.queue.leave()
		return err
	}
	return nil
}

// guarded runs the turn and turns a panic into the chat's fault.
func (t *turn) guarded() (err error) {
	defer func() {
		if fault := t.execute.recovered(recover()); fault != nil {
			err = fault
		}
	}()
	if t.chat.stream != nil && t.chat.stream.run != nil {
		return t.relay()
	}
	return t.run()
}

// place tells the host how many chats come before this one.
func (t *turn) place(before int) {
	t.chat.out.Progress(&wire.Progress{Stage: wire.PhaseQueue, Fraction: -1, Detail: fmt.Sprintf("%d before it", before)})
}

// finish hands over the final frame.
func (t *turn) finish(err error) {
	t.chat.state.Store(stateEnding)
	t.done.Response, t.done.Usage, t.done.Warnings = t.result.Response, t.result.Usage, t.result.Warnings
	t.done.FinishReason, t.done.Steps = t.result.FinishReason, t.result.Steps
	if t.chat.stream != nil { // it has nobody to tell
		for _, warning := range t.result.Warnings {
			t.execute.options.Logger.Warn(warning, "stream", string(t.chat.id))
		}
	}
	t.timings.Tool = t.result.ToolTime
	t.timings.Load += t.result.LoadTime
	t.done.Timings = t.measure(time.Now())
	t.execute.chats.end(t.chat, func(cancelled bool) {
		if cancelled {
			err = errCancelled
		}
		if err != nil {
			t.done.Fault = t.execute.faultOf(err)
		}
		t.execute.answers.add(wire.MethodChat, t.done.Fault)
		t.chat.out.Finish(t.done)
	})
}

// measure returns the clock that is read when the writer takes the final frame. Its times are whole
// milliseconds and those of the causes add up to the total: what is nobody else's is ours.
func (t *turn) measure(worked time.Time) func() wire.Timings {
	return func() wire.Timings {
		now, m := time.Now(), t.timings
		m.Reader = now.Sub(worked)
		m.Total = now.Sub(t.chat.accepted)
		m.Plan = min(m.Plan, m.Load)
		for _, d := range []*time.Duration{&m.Queue, &m.Load, &m.Plan, &m.TTFT, &m.Total, &m.Upstream, &m.Tool, &m.Reader} {
			*d = d.Truncate(time.Millisecond)
		}
		m.Engine = max(0, m.Total-m.Queue-m.Load-m.Upstream-m.Tool-m.Reader)
		return m
	}
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}
