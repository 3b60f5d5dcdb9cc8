package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent/toolcall"
)

// maxFailedRounds is after how many steps in a row, in which every call failed, the turn is ended.
const maxFailedRounds = 3

// work does what the turn is for.
func (t *turn) work(ctx context.Context) (end, error) {
	if err := t.findTools(ctx); err != nil {
		return end{}, err
	}
	t.prompt = prompt{turn: t}
	t.remember(ctx)
	if err := t.settle(ctx); err != nil {
		return end{}, err
	}
	for step := len(t.record.Steps); ; step++ {
		if step >= t.MaxSteps {
			return t.abort(step-1, wire.AbortMaxSteps, fmt.Sprintf(
				"the turn was ended after %s without a final answer; ask for less at once, or raise agents[].max_steps", counted(t.MaxSteps, "step"))), nil
		}
		e, over, err := t.step(ctx, step)
		if over || err != nil {
			return e, err
		}
	}
}

// findTools lists the agent's tools. While their servers are being connected the model's starts too: one
// that can't be started ends the turn at once.
func (t *turn) findTools(ctx context.Context) error {
	if len(t.Agent.Tools) == 0 {
		return nil
	}
	began := time.Now()
	warm := warming{turn: t}
	listing, stop := context.WithCancel(ctx)
	defer warm.end()
	defer stop()
	tools, warnings := t.Tools.List(listing, t.Agent.Tools, func() {
		t.Progress(&wire.Progress{Stage: wire.PhaseTool, Fraction: -1, Detail: "connecting to MCP servers"})
		t.Yield()
		warm.begin(ctx, stop)
	})
	t.result.ToolTime += time.Since(began)
	if warm.began() && len(warnings) > 0 {
		began = time.Now()
		warm.wait() // which this turn has to do anyway; slow servers may come meanwhile
		t.result.LoadTime += time.Since(began)
		tools, warnings = t.Tools.List(listing, t.Agent.Tools, nil)
	}
	t.Progress(nil)
	t.tools = tools
	for _, warning := range warnings {
		t.warn(warning)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return warm.fault()
}

// warming is the start of the model's server beside something else.
type warming struct {
	turn   *turn
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended; nil before it began
	err    error         // set before that
}

// begin starts the goroutine, which end waits for. failed is called when the server can't be started.
func (w *warming) begin(ctx context.Context, failed func()) {
	if w.turn.Warm == nil {
		return
	}
	ctx, w.cancel = context.WithCancel(ctx)
	w.done = make(chan struct{})
	go func() {
		w.err = w.turn.Warm(ctx)
		close(w.done)
		if w.err != nil {
			failed()
		}
	}()
}

func (w *warming) began() bool { return w.done != nil }

func (w *warming) wait() { <-w.done }

// fault is why the server can't be started, if that is known by now.
func (w *warming) fault() error {
	if !w.began() {
		return nil
	}
	select {
	case <-w.done:
	default:
		return nil
	}
	var fault *wire.Fault
	if errors.As(w.err, &fault) {
		return fault
	}
	return nil // whatever it is, the model step meets it too
}

func (w *warming) end() {
	if w.began() {
		w.cancel()
		<-w.done
	}
}

// remember looks for what past turns have to do with this one.
func (t *turn) remember(ctx context.Context) {
	if t.Memory == nil {
		return
	}
	t.Event(wire.Event{Kind: wire.EventMemoryStart})
	snippets, err := t.Memory.Retrieve(ctx, t.UserID, t.SessionID, t.record.Input)
	if err != nil && ctx.Err() == nil {
		t.warn("the memory was not used: " + err.Error())
	}
	t.prompt.snippets = snippets
}

// step runs one model step and the calls that it makes.
func (t *turn) step(ctx context.Context, step int) (e end, over bool, err error) {
	t.unsaved = ""
	outcome, err := t.Model.Step(ctx, step, t.prompt.prepare)
	t.account(outcome, err)
	plain := wire.PlainText(outcome.Response)
	t.unsaved = plain
	var overflow *wire.Overflow
	switch {
	case errors.As(err, &overflow) && ctx.Err() == nil:
		return t.abort(step, wire.AbortContextOverflow, t.prompt.tooLong()), true, nil
	case err != nil:
		return end{}, true, err
	}
	reading := toolcall.Read(toolcall.Step{Text: plain, Calls: outcome.Calls, Tools: t.tools, Cut: outcome.Finish == "length", Taken: t.callIDs(), Seed: t.TraceID + strconv.Itoa(step)})
	for _, what := range reading.Repaired {
		t.Logger.Debug("a tool call was repaired", "step", step, "what", what)
	}
	switch {
	case len(reading.Calls) > 0:
		return t.callTools(ctx, step, reading)
	case len(reading.Problems) > 0:
		t.addStep(ctx, wire.TurnStep{Number: step, Text: plain})
		t.prompt.add(wire.Message{Role: wire.RoleAssistant, Content: plain})
		e, over := t.askAgain(step, reading.Problems)
		return e, over, nil
	}
	t.result.Response = outcome.Response
	return end{wire.TurnDone, step}, true, nil
}

// account adds what a model step took and brought.
func (t *turn) account(o Outcome, err error) {
	if o.Usage != nil {
		if t.result.Usage == nil {
			t.result.Usage = &wire.Usage{}
		}
		t.result.Usage.PromptTokens += o.Usage.PromptTokens
		t.result.Usage.CompletionTokens += o.Usage.CompletionTokens
	}
	if o.Began {
		t.result.Steps++
	}
	if err == nil {
		t.result.FinishReason = o.Finish
	}
	if len(o.Response) > 0 {
		t.texts = append(t.texts, o.Response)
	}
}

// abort ends the turn without a final answer.
func (t *turn) abort(step int, reason wire.AbortReason, warning string) end {
	t.Event(wire.Event{Kind: wire.EventLoopAbort, Step: max(step, 0), Detail: &wire.LoopAbort{Reason: reason}})
	t.result.FinishReason = FinishAborted
	t.warn(warning)
	return end{wire.TurnAborted, step}
}

// askAgain tells the model what is wrong with its tool calls, or ends the turn when that was done often
// enough.
func (t *turn) askAgain(step int, problems []string) (e end, over bool) {
	t.parseErrors++
	t.Logger.Debug("a tool call can't be read", "step", step, "problem", problems[0])
	if t.parseErrors > t.MaxParseErrors {
		return t.abort(step, wire.AbortParseErrors, fmt.Sprintf(
			"the turn was ended because the model wrote tool calls that can't be read in %s; the last time: %s", counted(t.parseErrors, "step"), problems[0])), true
	}
	t.prompt.ask(toolcall.Reprompt(problems))
	return end{}, false
}

// addStep stores a finished step.
func (t *turn) addStep(ctx context.Context, step wire.TurnStep) {
	t.record.Steps = append(t.record.Steps, step)
	t.unsaved = ""
	t.stepStored = t.stored && t.save(ctx, func(ctx context.Context) error { return t.session.SaveStep(ctx, t.record.ID, &step) })
}
