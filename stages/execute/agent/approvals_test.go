package agent

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestApprovals is how a call that needs an approval ends.
func TestApprovals(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*world)
		asked   int
		status  wire.ToolStatus
		took    time.Duration // until the next step
		result  string        // what the model is told
		warning string
	}{
		"approved": {func(w *world) { w.answerAfter(3*time.Second, Answer{Approved: true}) }, 1, wire.ToolOK, 3 * time.Second, "s/ask got {}", ""},
		"denied":   {func(w *world) { w.answerAfter(3*time.Second, Answer{}) }, 1, wire.ToolDenied, 3 * time.Second, "The user denied", ""},
		"expired":  {func(w *world) { w.answerAfter(time.Minute, Answer{Expired: true}) }, 1, wire.ToolDenied, time.Minute, "Nobody answered in time", "app.approval_timeout"},
		"asked no more": {func(w *world) {
			w.approvals.answer = func(call wire.ToolApproval) *Answer {
				w.approvals.possible = false
				w.approvals.decide(time.Second, call.CallID, Answer{})
				return nil
			}
		}, 1, wire.ToolDenied, time.Second, "can't be asked any more", "because the input ended"},
		"not needed":       {func(w *world) { w.approvals.needless = true }, 0, wire.ToolOK, 0, "s/ask got {}", ""},
		"can't be asked":   {func(w *world) { w.approvals.possible = false }, 0, wire.ToolDenied, 0, "can't be asked", ""},
		"needed by no one": {func(w *world) { w.approvals.possible, w.approvals.needless = false, true }, 0, wire.ToolOK, 0, "s/ask got {}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c.change(w)
				w.model.script = []said{calling("{}", "a s__ask"), {text: "done"}}
				w.run()
				w.closed()
				if w.count("ask") != c.asked || w.count("call") != map[bool]int{true: 1}[c.status == wire.ToolOK] || w.when("llm_start 1") != c.took {
					t.Errorf("got %q, the next step after %v", w.journal, w.when("llm_start 1"))
				}
				w.inOrder("tool_start 0 s/ask", "EndCall 0.0 "+string(c.status), "tool_done 0 s/ask "+string(c.status), "llm_start 1")
				if told := w.model.last().Messages[2].Content; !strings.Contains(told, c.result) {
					t.Errorf("the model was told %q", told)
				}
				if c.warning != "" {
					w.warned(c.warning)
				} else {
					w.warned()
				}
			})
		})
	}
}

// answerAfter has the host answer each question after a time.
func (w *world) answerAfter(d time.Duration, a Answer) {
	w.approvals.answer = func(call wire.ToolApproval) *Answer {
		w.approvals.decide(d, call.CallID, a)
		return nil
	}
}

// TestApprovalIsAsked: tool_start comes before the question, and nothing is on record as started while
// it isn't answered.
func TestApprovalIsAsked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answerAfter(3*time.Second, Answer{Approved: true})
		w.model.script = []said{calling(`{"x":[1]}`, "a s__ask"), {text: "done"}}
		w.run()
		w.inOrder("SaveStep 0", "tool_start 0 s/ask", `ask 0 a s/ask {"x":[1]}`, "StartCall 0.0", "call s/ask", "EndCall 0.0 ok", "tool_done 0 s/ask ok")
		if w.when("StartCall 0.0") != 3*time.Second || w.result.ToolTime != 3*time.Second {
			t.Errorf("started after %v, %v of tools", w.when("StartCall 0.0"), w.result.ToolTime)
		}
	})
}

// TestApprovalsBesideOtherCalls: what needs none runs at once, several are asked for together, each
// runs when it was approved, and tool_done keeps the order of the calls.
func TestApprovalsBesideOtherCalls(t *testing.T) {
	inWorld(t, func(w *world) {
		w.approvals.answer = func(call wire.ToolApproval) *Answer {
			w.approvals.decide(map[string]time.Duration{"a": 5 * time.Second, "c": 2 * time.Second}[call.CallID], call.CallID, Answer{Approved: call.CallID == "c"})
			return nil
		}
		w.model.script = []said{calling("{}", "a s__ask", "b s__fast", "c s__ask2", "d s__echo"), {text: "done"}}
		w.run()
		w.closed()
		for entry, at := range map[string]time.Duration{
			"ask 0 a s/ask {}": 0, "ask 0 c s/ask2 {}": 0, "call s/fast": 0, "call s/echo": 0,
			"EndCall 0.3 ok": 0, "EndCall 0.1 ok": time.Second, "StartCall 0.2": 2 * time.Second, "call s/ask2": 2 * time.Second, "EndCall 0.2 ok": 2 * time.Second,
			"EndCall 0.0 denied": 5 * time.Second, "tool_done 0 s/ask denied": 5 * time.Second, "llm_start 1": 5 * time.Second,
		} {
			if got := w.when(entry); got != at {
				t.Errorf("%s at %v; want %v", entry, got, at)
			}
		}
		w.inOrder("tool_done 0 s/ask denied", "tool_done 0 s/fast ok", "tool_done 0 s/ask2 ok", "tool_done 0 s/echo ok")
		if w.when("call s/ask") >= 0 {
			t.Error("the denied call was made")
		}
	})
}

// TestDeniedCallsCountAsFailures: a model that insists on what is denied doesn't go on for ever.
func TestDeniedCallsCountAsFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		w.approvals.possible = false
		w.model.script = []said{calling("{}", "a s__ask")}
		w.run()
		w.aborted("2", wire.AbortToolFailures, "", "s/ask")
	})
}

// TestCancelWhileAnApprovalIsPending settles it: the call was never made, and a resumed turn may ask again.
func TestCancelWhileAnApprovalIsPending(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "a s__ask", "b s__slow", "c s__echo")}
		w.cancelAt(4 * time.Second)
		w.closed()
		w.inOrder("EndCall 0.2 ok", "tool_done 0 s/ask cancelled", "tool_done 0 s/slow cancelled", "tool_done 0 s/echo ok", "End cancelled ", "Close")
		if w.when("StartCall 0.0") >= 0 || w.when("EndCall 0.0 cancelled") >= 0 || w.when("call s/ask") >= 0 {
			t.Errorf("the call was made: %q", w.journal)
		}
	})
}
