package agent

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// interrupted puts a turn into the session as a killed engine leaves it behind.
func (w *world) interrupted(status wire.TurnStatus, steps ...wire.TurnStep) {
	w.sessions.next++
	w.sessions.turns["u/s"] = append(w.sessions.turns["u/s"], &wire.Turn{
		ID: w.sessions.next, TraceID: "old", Agent: "assistant", Input: "before", Status: status, Response: "par", Steps: steps,
	})
	w.options.Resume, w.options.Input = true, ""
}

func stored(id string, tool string, started bool, result *wire.ToolResult) wire.TurnCall {
	return wire.TurnCall{ToolCall: wire.ToolCall{ID: id, Function: strings.ReplaceAll(tool, "/", "__"), Arguments: "{}"}, Tool: tool, Started: started, Result: result}
}

// TestResumeAfterAFinishedStep goes on with the next step; no call is made again.
func TestResumeAfterAFinishedStep(t *testing.T) {
	for _, status := range []wire.TurnStatus{wire.TurnRunning, wire.TurnCancelled, wire.TurnFailed} {
		inWorld(t, func(w *world) {
			ok := &wire.ToolResult{Status: wire.ToolOK, Text: "it was fine"}
			w.interrupted(status, wire.TurnStep{Number: 0, Text: "let me see", Calls: []wire.TurnCall{stored("a", "s/echo", true, ok)}})
			w.model.script = []said{{text: "done"}}
			w.run()
			w.happened("Open", "Last", "Resume 1", "run_start before", "List *", "llm_start 1", "llm_done 1", "End done done", "final 1 done", "Close")
			w.warned()
			want := []wire.Message{{Role: "user", Content: "before"},
				{Role: "assistant", Content: "let me see", Calls: []wire.ToolCall{{ID: "a", Function: "s__echo", Arguments: "{}"}}},
				{Role: "tool", Content: "it was fine", CallID: "a"}}
			if !reflect.DeepEqual(w.model.last().Messages, want) {
				t.Errorf("asked %+v", w.model.last().Messages)
			}
			if turns := w.sessions.turns["u/s"]; len(turns) != 1 || turns[0].Status != wire.TurnDone || turns[0].Response != "done" || turns[0].Input != "before" {
				t.Errorf("stored %+v", turns)
			}
		})
	}
}

// TestResumeBeforeAnyStep begins the turn's work again.
func TestResumeBeforeAnyStep(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.Memory = &fakeMemory{world: w}
		w.interrupted(wire.TurnRunning)
		w.model.script = []said{{text: "done"}}
		w.run()
		w.happened("Open", "Last", "Resume 1", "run_start before", "List *", "memory_start", "Retrieve u s before", "llm_start 0", "llm_done 0", "End done done", "final 0 done", "Close")
	})
}

// TestResumeWithCallsInEveryState makes only those that were not begun. What was begun and not
// finished may have done its work.
func TestResumeWithCallsInEveryState(t *testing.T) {
	inWorld(t, func(w *world) {
		failed := &wire.ToolResult{Status: wire.ToolError, Text: "it failed"}
		w.interrupted(wire.TurnRunning,
			wire.TurnStep{Number: 0, Calls: []wire.TurnCall{stored("a", "s/echo", true, failed)}},
			wire.TurnStep{Number: 1, Calls: []wire.TurnCall{
				stored("a", "s/fails", true, nil), stored("b", "s/slow", true, failed), stored("c", "s/fast", false, nil), stored("d", "s/fails", true, nil), stored("e", "s/ask", false, nil),
			}})
		w.answerAfter(time.Second, Answer{Approved: true})
		w.model.script = []said{{text: "done"}}
		w.run()
		w.closed()
		w.inOrder("Resume 1", "EndCall 1.0 error", "EndCall 1.3 error", "tool_start 1 s/fast", "tool_start 1 s/ask", "StartCall 1.2", "ask 1 e s/ask {}", "EndCall 1.2 ok", "llm_start 2", "End done done")
		w.inOrder("StartCall 1.4", "call s/ask", "EndCall 1.4 ok", "tool_done 1 s/ask ok")
		w.inOrder("tool_done 1 s/fast ok", "tool_done 1 s/ask ok")
		if w.count("call") != 2 || w.count("tool_start") != 2 || w.result.ToolTime != time.Second {
			t.Errorf("got %q", w.journal)
		}
		w.warned("the call of s/fails was interrupted, its outcome is unknown and it was not repeated")
		var told []string
		for _, m := range w.model.last().Messages {
			if m.Role == wire.RoleTool {
				told = append(told, m.CallID+" "+m.Content)
			}
		}
		want := []string{"a it failed", "a interrupted, outcome unknown", "b it failed", "c s/fast got {}", "d interrupted, outcome unknown", "e s/ask got {}"}
		if !reflect.DeepEqual(told, want) {
			t.Errorf("the model was told %q", told)
		}
	})
}

// TestResumeAfterCancelAndAgain: what one life has settled the next one doesn't ask again.
func TestResumeAfterCancelAndAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnRunning, wire.TurnStep{Calls: []wire.TurnCall{stored("a", "s/echo", true, nil), stored("b", "s/slow", false, nil)}})
		w.model.script = []said{{text: "done"}}
		w.cancelAt(3 * time.Second)
		w.closed()
		w.inOrder("EndCall 0.0 error", "StartCall 0.1", "call s/slow", "EndCall 0.1 cancelled", "tool_done 0 s/slow cancelled", "End cancelled ")
		w.again()
		w.run()
		w.happened("Open", "Last", "Resume 1", "run_start before", "List *", "llm_start 1", "llm_done 1", "End done done", "final 1 done", "Close")
		w.warned()
	})
}

// TestInputBesideAResume is ignored with a warning.
func TestInputBesideAResume(t *testing.T) {
	for input, warned := range map[string][]string{"": nil, "before": {"the input was ignored"}, "else": {"the input was ignored"}} {
		inWorld(t, func(w *world) {
			w.interrupted(wire.TurnFailed)
			w.options.Input = input
			w.model.script = []said{{text: "done"}}
			w.run()
			w.warned(warned...)
			w.inOrder("run_start before", "final 0 done")
			if got := w.model.last().Messages; len(got) != 1 || got[0].Content != "before" {
				t.Errorf("asked %+v", got)
			}
		})
	}
}

// TestNothingToResume is a normal turn with a warning.
func TestNothingToResume(t *testing.T) {
	for _, status := range []wire.TurnStatus{"", wire.TurnDone, wire.TurnAborted} {
		inWorld(t, func(w *world) {
			if status != "" {
				w.interrupted(status)
			}
			w.options.Resume, w.options.Input = true, "new"
			w.model.script = []said{{text: "done"}}
			w.run()
			w.happened("Open", "Last", "Begin", "run_start new", "List *", "llm_start 0", "llm_done 0", "End done done", "final 0 done", "Close")
			w.warned("there was nothing to resume")
			if turns := w.sessions.turns["u/s"]; turns[len(turns)-1].Input != "new" {
				t.Errorf("stored %+v", turns)
			}
		})
	}
}

// TestResumeThatCantBeStored goes on all the same.
func TestResumeThatCantBeStored(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnRunning)
		w.sessions.broken = "Resume"
		w.model.script = []said{calling("{}", "a s__echo"), {text: "done"}}
		w.run()
		w.warned("the disk is full")
		w.inOrder("SaveStep 0", "StartCall 0.0", "call s/echo", "End done done", "final 1 done")
	})
}

// TestResumedTurnThatHadItsSteps is aborted, its steps counted over all its lives.
func TestResumedTurnThatHadItsSteps(t *testing.T) {
	inWorld(t, func(w *world) {
		ok := &wire.ToolResult{Status: wire.ToolOK}
		step := func(n int) wire.TurnStep {
			return wire.TurnStep{Number: n, Calls: []wire.TurnCall{stored("a", "s/echo", true, ok)}}
		}
		w.interrupted(wire.TurnRunning, step(0), step(1))
		w.options.MaxSteps = 2
		w.model.script = []said{{text: "done"}}
		w.run()
		w.aborted("1", wire.AbortMaxSteps, "", "after 2 steps")
		if w.count("llm_start") != 0 {
			t.Errorf("got %q", w.journal)
		}
	})
}

// TestRealInterruption: a turn that was cancelled in its second step is taken up by the next chat.
func TestRealInterruption(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "a s__echo"), {text: "never", took: time.Minute}}
		w.cancelAt(time.Second)
		w.again()
		w.options.Resume, w.options.Input = true, ""
		w.model.script = []said{{text: "done"}}
		w.run()
		w.happened("Open", "Last", "Resume 1", "run_start hi", "List *", "llm_start 1", "llm_done 1", "End done done", "final 1 done", "Close")
	})
}

// TestResumeWithAToolThatIsGone: the call can't be made any more, and the model is told.
func TestResumeWithAToolThatIsGone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnRunning, wire.TurnStep{Calls: []wire.TurnCall{stored("a", "x/gone", false, nil)}})
		w.model.script = []said{{text: "done"}}
		w.run()
		w.closed()
		w.inOrder("EndCall 0.0 error", "tool_done 0 x/gone error", "final 1 done")
	})
}

// TestCancelWhileWaitingToResume tells which input there was.
func TestCancelWhileWaitingToResume(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnRunning)
		w.options.Input = "mine"
		w.sessions.wait = time.Minute
		w.cancelAt(time.Second)
		w.happened("park", "run_start mine")
	})
}

// TestResumeUnderTheAgentThatBegan: the host need not name it again, and is told when it is another.
func TestResumeUnderTheAgentThatBegan(t *testing.T) {
	other := Agent{Name: "tooler", SystemPrompt: "use tools", MaxSteps: 9, Tools: []string{"*"}}
	for name, c := range map[string]struct {
		byName func(string) (Agent, bool)
		system string
		warned []string
	}{
		"not named":   {func(name string) (Agent, bool) { return other, name == "tooler" }, "use tools", nil},
		"gone":        {func(string) (Agent, bool) { return Agent{}, false }, "be brief", []string{"tooler, which is not configured any more"}},
		"another one": {nil, "be brief", []string{"was begun by agent tooler; as asked, it goes on under assistant"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.interrupted(wire.TurnRunning)
				w.sessions.turns["u/s"][0].Agent = "tooler"
				w.options.SystemPrompt, w.options.ByName = "be brief", c.byName
				w.model.script = []said{{text: "done"}}
				w.run()
				w.warned(c.warned...)
				if got := w.model.last().Messages[0].Content; got != c.system {
					t.Errorf("the system prompt is %q", got)
				}
			})
		})
	}
}

// TestCallsOfAResumedTurnDelayNobody: they come before the turn's first model step, and may be asked for.
func TestCallsOfAResumedTurnDelayNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnRunning, wire.TurnStep{Calls: []wire.TurnCall{stored("a", "s/slow", false, nil)}})
		w.model.script = []said{{text: "done"}}
		w.run()
		w.inOrder("Resume 1", "yield", "call s/slow", "llm_start 1")
	})
}

// TestAnswerIsRepeated: a host that was killed before it read a result gets it by resume.
func TestAnswerIsRepeated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.interrupted(wire.TurnDone, wire.TurnStep{Text: "see", Calls: []wire.TurnCall{stored("a", "s/echo", true, &wire.ToolResult{Status: wire.ToolOK})}})
		w.sessions.turns["u/s"][0].Response = "the \"answer\""
		w.run()
		w.happened("Open", "Last", "run_start before", "final 1 the \\\"answer\\\"", "Close")
		w.warned("its answer is repeated")
		if w.result.Steps != 2 || w.result.FinishReason != "stop" || string(w.result.Response) != `the \"answer\"` {
			t.Errorf("got %+v", w.result)
		}
	})
}
