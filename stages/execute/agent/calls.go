package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent/toolcall"
)

// callTools stores the step, makes its calls side by side and gives the model their results.
func (t *turn) callTools(ctx context.Context, step int, reading toolcall.Reading) (end, bool, error) {
	record := wire.TurnStep{Number: step, Text: reading.Text}
	for _, call := range reading.Calls {
		tool := call.Tool
		if tool == "" {
			tool = call.Function
		}
		record.Calls = append(record.Calls, wire.TurnCall{ToolCall: call.ToolCall, Tool: tool})
	}
	t.addStep(ctx, record)
	calls := t.record.Steps[len(t.record.Steps)-1].Calls
	t.makeCalls(ctx, step, calls)
	if ctx.Err() != nil {
		return end{}, true, context.Cause(ctx)
	}
	t.prompt.add(t.stepMessages(&t.record.Steps[len(t.record.Steps)-1])...)
	if t.failedRound(calls) {
		last := &calls[len(calls)-1]
		return t.abort(step, wire.AbortToolFailures, fmt.Sprintf("the turn was ended because every tool call of %d steps failed; the last one, %s: %s",
			maxFailedRounds, last.Tool, preview(last.Result.Text))), true, nil
	}
	if len(reading.Problems) > 0 {
		e, over := t.askAgain(step, reading.Problems)
		return e, over, nil
	}
	return end{}, false, nil
}

// failedRound counts the steps in a row in which nothing succeeded and reports whether they are too many.
func (t *turn) failedRound(calls []wire.TurnCall) bool {
	for i := range calls {
		if calls[i].Result.Status == wire.ToolOK {
			t.failedRounds = 0
			return false
		}
	}
	t.failedRounds++
	return t.failedRounds >= maxFailedRounds
}

// settle gives the calls of a resumed turn the results that they miss: those that had begun may have
// done their work, so they are not made again; the others are made now.
func (t *turn) settle(ctx context.Context) error {
	for i := range t.record.Steps {
		step := &t.record.Steps[i]
		for c := range step.Calls {
			call := &step.Calls[c]
			if call.Result == nil && call.Started {
				t.warn("the call of " + call.Tool + " was interrupted, its outcome is unknown and it was not repeated; check what it did")
				t.endCall(ctx, step.Number, c, call, &wire.ToolResult{Status: wire.ToolError, Text: "interrupted, outcome unknown"})
			}
		}
		if slices.ContainsFunc(step.Calls, func(call wire.TurnCall) bool { return call.Result == nil }) {
			t.Yield() // tools and approvals take their time
		}
		t.makeCalls(ctx, step.Number, step.Calls)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.prompt.add(t.stepMessages(step)...)
	}
	return nil
}

// endCall stores a call's result.
func (t *turn) endCall(ctx context.Context, step, index int, call *wire.TurnCall, result *wire.ToolResult) {
	call.Result = result
	if t.stored {
		t.save(ctx, func(ctx context.Context) error { return t.session.EndCall(ctx, t.record.ID, step, index, result) })
	}
}

// round is the calls of one step while they are made.
type round struct {
	turn  *turn
	ctx   context.Context
	step  int
	calls []wire.TurnCall
	// due are the indices of the calls that this round makes; of them, told have had their tool_done,
	// which come in the order of the calls.
	due  []int
	told int
	// news has room for all that comes, so no goroutine waits for us.
	news chan news
}

// news is what a goroutine of a round found out: the answer to an approval, or a result.
type news struct {
	index  int
	answer *Answer
	result *wire.ToolResult
}

// makeCalls makes those of a step's calls that have no result, and returns when all have one.
func (t *turn) makeCalls(ctx context.Context, step int, calls []wire.TurnCall) {
	r := round{turn: t, ctx: ctx, step: step, calls: calls, news: make(chan news, 2*len(calls))}
	for i := range calls {
		if calls[i].Result == nil {
			r.due = append(r.due, i)
		}
	}
	if len(r.due) == 0 {
		return
	}
	began := time.Now()
	defer func() { t.result.ToolTime += time.Since(began) }()
	t.Progress(&wire.Progress{Stage: wire.PhaseTool, Fraction: -1, Detail: r.names()})
	defer t.Progress(nil)
	for _, i := range r.due {
		t.Event(wire.Event{Kind: wire.EventToolStart, Step: step, Detail: &wire.ToolStart{Tool: calls[i].Tool, Args: calls[i].Arguments, CallID: t.callID(&calls[i])}})
	}
	for _, i := range r.due {
		r.begin(i)
	}
	for r.tell(); r.told < len(r.due); r.tell() {
		r.take(<-r.news)
	}
}

// begin starts a call, or asks whether it may be.
func (r *round) begin(i int) {
	t, call := r.turn, &r.calls[i]
	switch {
	case r.ctx.Err() != nil:
		r.forgo(i)
	case !t.offered(call.Tool):
		r.refuse(i, wire.ToolError, t.unknownTool(call.Tool))
	case !t.Tools.NeedsApproval(call.Tool) || !t.Approvals.Needed(call.Tool):
		r.start(i)
	case !t.Approvals.Possible():
		t.Logger.Info("a tool call was denied because the host can't be asked", "tool", call.Tool)
		r.refuse(i, wire.ToolDenied, "The tool "+call.Tool+" needs the user's approval, and this host can't be asked for it. Go on without it.")
	default:
		answer := t.Approvals.Ask(r.ctx, r.step, wire.ToolApproval{CallID: call.ID, Tool: call.Tool, Args: call.Arguments})
		go func() {
			a := <-answer
			r.news <- news{index: i, answer: &a}
		}()
	}
}

// take handles what a goroutine found out.
func (r *round) take(n news) {
	t, call := r.turn, &r.calls[n.index]
	switch {
	case n.result != nil:
		t.endCall(r.ctx, r.step, n.index, call, n.result)
	case r.ctx.Err() != nil:
		r.forgo(n.index)
	case n.answer.Approved:
		r.start(n.index)
	case n.answer.Expired:
		t.warn("a call of " + call.Tool + " was denied because its approval was not answered in time; answer sooner, or raise app.approval_timeout")
		r.refuse(n.index, wire.ToolDenied, "Nobody answered in time whether this tool may run, so the call was denied. Go on without it.")
	case !t.Approvals.Possible():
		t.warn("a call of " + call.Tool + " was denied because the input ended before its approval was answered")
		r.refuse(n.index, wire.ToolDenied, "The user can't be asked any more whether this tool may run, so the call was denied. Go on without it.")
	default:
		r.refuse(n.index, wire.ToolDenied, "The user denied this call. Go on without it.")
	}
}

// forgo leaves out a call because the turn was cancelled. Nothing of that is stored: when the turn is
// resumed the call is made, or asked for, like any that had not begun.
func (r *round) forgo(i int) {
	r.calls[i].Result = &wire.ToolResult{Status: wire.ToolCancelled, Text: "The turn was cancelled before the call was made."}
}

// refuse ends a call that was not made.
func (r *round) refuse(i int, status wire.ToolStatus, text string) {
	r.turn.endCall(r.ctx, r.step, i, &r.calls[i], &wire.ToolResult{Status: status, Text: text})
}

// start makes the call in a goroutine of its own, once it is on record that it is being made. One whose
// start can't be recorded is not made: a resumed turn, which knows the step, would make it again.
func (r *round) start(i int) {
	t, call := r.turn, &r.calls[i]
	call.Started = true
	recorded := !t.stored || t.save(r.ctx, func(ctx context.Context) error { return t.session.StartCall(ctx, t.record.ID, r.step, i) })
	if !recorded && t.stepStored {
		call.Started = false
		call.Result = &wire.ToolResult{Status: wire.ToolError, Retryable: true, Text: "The call was not made because its start could not be recorded. Try again, or go on without it."}
		return
	}
	name, args := call.Tool, call.Arguments
	go func() {
		result := t.call(r.ctx, name, args)
		r.news <- news{index: i, result: &result}
	}()
}

// call makes one call; a panic in it ends that call alone.
func (t *turn) call(ctx context.Context, name, args string) (result wire.ToolResult) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			t.Logger.Error("ERROR_STACKTRACE", "panic", fmt.Sprint(p), "tool", name)
			result = wire.ToolResult{Status: wire.ToolError, Text: "An internal error ended this call; the log has the details."}
		}
		result.Took = time.Since(began)
	}()
	return t.Tools.Call(ctx, name, args)
}

// tell sends tool_done for the calls whose turn it is.
func (r *round) tell() {
	for ; r.told < len(r.due); r.told++ {
		call := &r.calls[r.due[r.told]]
		if call.Result == nil {
			return
		}
		r.turn.Event(wire.Event{Kind: wire.EventToolDone, Step: r.step, Detail: &wire.ToolDone{
			Tool: call.Tool, Status: call.Result.Status, Preview: preview(call.Result.Text),
			Retryable: call.Result.Retryable, Took: call.Result.Took, CallID: r.turn.callID(call),
		}})
	}
}
