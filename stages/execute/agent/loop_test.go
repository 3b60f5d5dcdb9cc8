package agent

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func TestPlainAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		half := 0.5
		w.options.SystemPrompt, w.options.MaxTokens, w.options.Temperature = "be brief", 9, &half
		w.model.script = []said{{text: "a \"quoted\"\nanswer", took: time.Second}}
		w.run()
		w.happened("run_start hi", "Open", "Begin", "List *", "llm_start 0", "llm_done 0",
			"End done a \"quoted\"\nanswer", `final 0 a \"quoted\"\nanswer`, "Close")
		w.closed()
		want := Result{Response: []byte(`a \"quoted\"\nanswer`), FinishReason: "stop", Steps: 1, Usage: &wire.Usage{PromptTokens: 10, CompletionTokens: 1}, Warnings: []string{}}
		if w.err != nil || !reflect.DeepEqual(w.result, want) {
			t.Errorf("got %+v, %v; want %+v", w.result, w.err, want)
		}
		request := &wire.ModelRequest{Messages: []wire.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "hi"}}, Tools: catalogue, MaxTokens: 9, Temperature: &half}
		if !reflect.DeepEqual(w.model.last(), request) {
			t.Errorf("asked %+v", w.model.last())
		}
		stored := w.sessions.turns["u/s"][0]
		if stored.TraceID != "trace" || stored.Agent != "assistant" || stored.Input != "hi" || stored.Started != w.start || len(stored.Steps) != 0 {
			t.Errorf("stored %+v", stored)
		}
	})
}

// TestNoTools: an agent without tools connects to nothing.
func TestNoTools(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.Agent.Tools = nil
		w.model.script = []said{{text: "yes"}}
		w.run()
		w.happened("run_start hi", "Open", "Begin", "llm_start 0", "llm_done 0", "End done yes", "final 0 yes", "Close")
		if w.model.last().Tools != nil {
			t.Errorf("offered %+v", w.model.last().Tools)
		}
	})
}

// TestOneCall shows what is stored before what: the step before its calls, the start of a call before
// the call, its result before the next step, the end before final.
func TestOneCall(t *testing.T) {
	inWorld(t, func(w *world) {
		w.memory = &fakeMemory{world: w}
		w.options.Memory = w.memory
		first := calling(`{"a":1}`, "c1 s__fast")
		first.text = "let me see"
		w.model.script = []said{first, {text: "done"}}
		w.run()
		w.happened("run_start hi", "Open", "Begin", "List *", "memory_start", "Retrieve u s hi", "llm_start 0", "llm_done 0",
			"SaveStep 0", "tool_start 0 s/fast", "StartCall 0.0", "call s/fast", "EndCall 0.0 ok", "tool_done 0 s/fast ok",
			"llm_start 1", "llm_done 1", "End done done", "final 1 done", "Close")
		want := []wire.Message{{Role: "user", Content: "hi"},
			{Role: "assistant", Content: "let me see", Calls: []wire.ToolCall{{ID: "c1", Function: "s__fast", Arguments: `{"a":1}`}}},
			{Role: "tool", Content: `s/fast got {"a":1}`, CallID: "c1"}}
		if !reflect.DeepEqual(w.model.last().Messages, want) {
			t.Errorf("asked %+v", w.model.last().Messages)
		}
		if w.result.ToolTime != time.Second || w.result.Steps != 2 || w.result.Usage.PromptTokens != 20 || string(w.result.Response) != "done" {
			t.Errorf("got %+v", w.result)
		}
		w.detail(t)
	})
}

// detail checks what the events of TestOneCall tell.
func (w *world) detail(t *testing.T) {
	for _, e := range w.events {
		switch d := e.Detail.(type) {
		case *wire.RunStart:
			if *d != (wire.RunStart{UserInput: "hi", TraceID: "trace"}) {
				t.Errorf("%+v", d)
			}
		case *wire.ToolStart:
			if *d != (wire.ToolStart{Tool: "s/fast", Args: `{"a":1}`, CallID: "c1"}) {
				t.Errorf("%+v", d)
			}
		case *wire.ToolDone:
			if *d != (wire.ToolDone{Tool: "s/fast", Status: wire.ToolOK, Preview: `s/fast got {"a":1}`, Took: time.Second, CallID: "c1"}) {
				t.Errorf("%+v", d)
			}
		}
	}
}

// TestCallsOfOneStepRunSideBySide, and their results and tool_dones keep the order of the calls.
func TestCallsOfOneStepRunSideBySide(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.CallIDs = false
		w.model.script = []said{calling("{}", "a s__slow", "b s__fast", "c s__fails", "d s__slow"), {text: "done"}}
		w.run()
		if w.tools.most < 3 || w.result.ToolTime != 10*time.Second {
			t.Errorf("%d ran at once, for %v", w.tools.most, w.result.ToolTime)
		}
		w.inOrder("SaveStep 0", "StartCall 0.0", "StartCall 0.1", "StartCall 0.2", "StartCall 0.3", "EndCall 0.2 error", "EndCall 0.1 ok")
		w.inOrder("EndCall 0.1 ok", "tool_done 0 s/fast ok", "tool_done 0 s/fails error", "llm_start 1")
		w.inOrder("StartCall 0.1", "call s/fast")
		w.closed()
		var order, ids string
		for _, e := range w.events {
			if d, ok := e.Detail.(*wire.ToolDone); ok {
				order += d.Tool + " "
				ids += d.CallID
			}
		}
		if order != "s/slow s/fast s/fails s/slow " || ids != "" {
			t.Errorf("tool_done came in the order %s, ids %q", order, ids)
		}
		for i, id := range []string{"a", "b", "c", "d"} {
			if m := w.model.last().Messages[i+2]; m.CallID != id || m.Role != wire.RoleTool {
				t.Errorf("result %d is %+v", i, m)
			}
		}
	})
}

func TestSeveralSteps(t *testing.T) {
	inWorld(t, func(w *world) {
		one, two := calling("{}", "a s__echo"), calling("{}", "a s__echo", "b s__fast") // ids come again in every step
		one.text, two.text = "first", "second"
		w.model.script = []said{one, two, {text: "third"}}
		w.run()
		w.closed()
		w.inOrder("llm_start 0", "SaveStep 0", "llm_start 1", "SaveStep 1", "EndCall 1.0 ok", "llm_start 2", "End done third", "final 2 third")
		if string(w.result.Response) != "third" || w.result.Steps != 3 || len(w.model.last().Messages) != 6 {
			t.Errorf("got %+v after %+v", w.result, w.model.last().Messages)
		}
		if stored := w.sessions.turns["u/s"][0]; len(stored.Steps) != 2 || stored.Steps[1].Text != "second" || len(stored.Steps[1].Calls) != 2 || stored.Steps[1].Calls[1].Tool != "s/fast" || stored.Steps[1].Calls[1].Result.Text != "s/fast got {}" {
			t.Errorf("stored %+v", stored)
		}
	})
}

// aborted checks the end of a turn that loop_abort ended.
func (w *world) aborted(step string, reason wire.AbortReason, response, warning string) {
	w.t.Helper()
	w.closed()
	if w.err != nil || w.result.FinishReason != FinishAborted || string(w.result.Response) != response {
		w.t.Errorf("got %+v (%s), %v", w.result, w.result.Response, w.err)
	}
	w.warned(warning)
	abort := "loop_abort " + step + " " + string(reason)
	if w.count("loop_abort") != 1 || w.when(abort) < 0 || w.count("final") != 0 {
		w.t.Errorf("no %s alone in\n  %s", abort, strings.Join(w.journal, "\n  "))
	}
	if stored := w.sessions.turns["u/s"]; len(stored) == 0 || stored[len(stored)-1].Status != wire.TurnAborted {
		w.t.Errorf("it was not stored as aborted: %+v", stored)
	}
}

func TestAbortAfterMaxSteps(t *testing.T) {
	inWorld(t, func(w *world) {
		again := calling("{}", "a s__echo")
		again.text = "hm\n"
		w.options.MaxSteps = 3
		w.model.script = []said{again}
		w.run()
		w.aborted("2", wire.AbortMaxSteps, `hm\n\n\nhm\n\n\nhm\n`, "after 3 steps")
		if w.result.Steps != 3 || w.count("call") != 3 {
			t.Errorf("%d steps, %d calls", w.result.Steps, w.count("call"))
		}
	})
}

func TestAbortAfterToolFailures(t *testing.T) {
	inWorld(t, func(w *world) {
		fails, mixed := calling("{}", "a s__fails", "b s__fails"), calling("{}", "a s__fails", "b s__echo")
		fails.text = "x"
		w.model.script = []said{fails, fails, mixed, fails, fails, fails, {text: "done"}}
		w.run()
		w.aborted("5", wire.AbortToolFailures, `x\n\nx\n\nx\n\nx\n\nx`, "s/fails: no such file")
	})
}

// TestModelFails: an error of the model ends the turn, which is stored as failed with what there was.
func TestModelFails(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "a s__echo"), {text: "ha", err: wire.NewFault(wire.CodeInternal, "the server said 500")}}
		w.model.script[0].text = "first"
		w.run()
		var fault *wire.Fault
		if !errors.As(w.err, &fault) || fault.Message != "the server said 500" || string(w.result.Response) != `first\n\nha` {
			t.Errorf("got %v, %s", w.err, w.result.Response)
		}
		w.inOrder("llm_done 1", "End failed ha", "Close")
		w.closed()
	})
}

// TestCallIDsOfATurn differ, whatever a server numbers its calls by: a late approval must not be taken for
// that of a later call.
func TestCallIDsOfATurn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "call_0 s__echo"), calling("{}", "call_0 s__echo"), {text: "done"}}
		w.run()
		ids := map[string]int{}
		for _, message := range w.model.last().Messages {
			for _, call := range message.Calls {
				ids[call.ID]++
			}
			if message.Role == wire.RoleTool {
				ids[message.CallID]++
			}
		}
		if len(ids) != 2 || ids["call_0"] != 2 {
			t.Errorf("the ids are %v", ids)
		}
	})
}
