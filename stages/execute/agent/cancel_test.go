package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestCancel ends a turn in each of its phases at once: every start has its end, what there was is
// told and stored.
func TestCancel(t *testing.T) {
	slow := calling("{}", "a s__slow", "b s__echo")
	slow.text = "first"
	for name, c := range map[string]struct {
		change   func(*world)
		response string
		stored   string // the entry of End; empty when there is none
		lacks    string // what must not happen any more
	}{
		"waiting for the session": {func(w *world) { w.sessions.wait = time.Minute }, "", "", "Open"},
		"joining again": {func(w *world) {
			w.sessions.wait = time.Second
			w.options.Unpark = pauseMinute
		}, "", "", "Begin"},
		"connecting to tools": {func(w *world) {
			w.tools.connect = time.Minute
			w.options.Memory = &fakeMemory{world: w}
		}, "", "End cancelled ", "memory_start"},
		"retrieving":          {func(w *world) { w.options.Memory = &fakeMemory{world: w, took: time.Minute} }, "", "End cancelled ", "tool_start"},
		"in the first step":   {func(w *world) { w.model.script = []said{{took: time.Minute}} }, "half", "End cancelled half", "final"},
		"in a later step":     {func(w *world) { w.model.script = []said{calling("{}", "a s__echo"), {took: time.Minute}} }, "half", "End cancelled half", "final"},
		"while a tool runs":   {func(w *world) { w.model.script = []said{slow} }, "first", "End cancelled ", "llm_start 1"},
		"after several steps": {func(w *world) { w.model.script = []said{{text: "zero", calls: calling("{}", "a s__echo").calls}, slow} }, `zero\n\nfirst`, "End cancelled ", "llm_start 2"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c.change(w)
				if w.model.script == nil {
					w.model.script = []said{{text: "never", took: time.Minute}}
				}
				w.cancelAt(4 * time.Second)
				w.closed()
				if string(w.result.Response) != c.response || c.stored == "" && w.count("End") > 0 || c.stored != "" && w.when(c.stored) < 0 {
					t.Errorf("response %q: %q", w.result.Response, w.journal)
				}
				if w.result.Steps != w.count("llm_start") {
					t.Errorf("%d steps in %q", w.result.Steps, w.journal)
				}
				if w.count("run_start") != 1 || w.count(c.lacks) != 0 {
					t.Errorf("got %q", w.journal)
				}
				w.warned()
			})
		})
	}
}

// TestCancelIsNoWarning: what failed because of the cancel alone is not told as a failure of its own,
// and steps that were not made have no step in the result.
func TestCancelIsNoWarning(t *testing.T) {
	inWorld(t, func(w *world) {
		w.tools.connect = time.Minute
		w.cancelAt(time.Second)
		if w.result.Steps != 0 || w.result.Usage != nil || w.result.ToolTime != time.Second {
			t.Errorf("got %+v", w.result)
		}
		w.warned()
	})
}

// TestCancelBeforeCallsBegin: a call that was not begun when the cancel came is not made.
func TestCancelBeforeCallsBegin(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "a s__echo")}
		w.options.Progress = func(p *wire.Progress) {
			if p != nil {
				w.cancel(errStop)
			}
		}
		w.run()
		if !errors.Is(w.err, errStop) || w.count("call") != 0 || w.count("StartCall") != 0 || w.count("EndCall") != 0 {
			t.Errorf("%v: %q", w.err, w.journal)
		}
		w.inOrder("SaveStep 0", "tool_start 0 s/echo", "tool_done 0 s/echo cancelled", "End cancelled ", "Close")
	})
}

// refusing is a model that is cancelled in the moment in which its server refuses the prompt as too long.
type refusing struct{ world *world }

// Step implements Model.
func (m refusing) Step(context.Context, int, Prepare) (Outcome, error) {
	m.world.cancel(errStop)
	return Outcome{}, &wire.Overflow{Fault: wire.NewFault(wire.CodeInternal, "too long")}
}

// TestCancelIsNoAbort: what was cancelled has no result, whatever else went wrong.
func TestCancelIsNoAbort(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.Model = refusing{w}
		w.run()
		if w.err == nil || w.count("loop_abort") > 0 || w.result.FinishReason != "" || w.when("End cancelled ") < 0 {
			t.Errorf("%v: %q, %+v", w.err, w.journal, w.result)
		}
		w.warned()
	})
}
