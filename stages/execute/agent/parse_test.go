package agent

import (
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestAbortAfterParseErrors(t *testing.T) {
	for most, steps := range map[int]int{0: 1, 3: 4} {
		inWorld(t, func(w *world) {
			w.options.MaxParseErrors = most
			broken := calling(`{"a": "never closed`, "a s__echo")
			broken.text = "so"
			w.model.script = []said{broken}
			w.run()
			w.aborted(map[int]string{0: "0", 3: "3"}[most], wire.AbortParseErrors, strings.Repeat(`\n\nso`, steps)[len(`\n\n`):], "can't be read")
			if w.result.Steps != steps || w.count("SaveStep") != steps || w.count("tool_start") != 0 {
				t.Errorf("%d steps: %q", w.result.Steps, w.journal)
			}
		})
	}
}

// TestParseErrorIsToldToTheModel, which does it right the next time. The errors of a turn are counted
// together.
func TestParseErrorIsToldToTheModel(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.MaxParseErrors = 1
		w.model.script = []said{calling(`{"a": 1 2}`, "a s__echo"), calling(`{'a': 1,}`, "b s__echo"), {text: "done"}}
		w.run()
		asked := w.model.asked[1].Messages
		if last := asked[len(asked)-1]; last.Role != wire.RoleUser || !strings.Contains(last.Content, "s__echo") || asked[len(asked)-2].Role != wire.RoleAssistant {
			t.Errorf("asked %+v", asked)
		}
		w.inOrder("llm_done 0", "SaveStep 0", "llm_start 1", "SaveStep 1", "call s/echo", "final 2 done")
		if result := w.model.last().Messages[4]; result.Content != `s/echo got {"a":1}` {
			t.Errorf("the tool got %+v", result)
		}
		w.warned()
		w.closed()
	})
}

// TestCallsBesideOneThatCantBeRead are made; the model is then told of the other one.
func TestCallsBesideOneThatCantBeRead(t *testing.T) {
	for most, steps := range map[int]string{0: "0", 1: "1"} {
		inWorld(t, func(w *world) {
			mixed := calling("{}", "a s__echo", "b s__fast")
			mixed.calls[1].Arguments = `{"a" 1}`
			w.options.MaxParseErrors = most
			w.model.script = []said{mixed}
			w.run()
			w.aborted(steps, wire.AbortParseErrors, "", "can't be read")
			w.inOrder("SaveStep 0", "tool_start 0 s/echo", "StartCall 0.0", "EndCall 0.0 ok", "tool_done 0 s/echo ok", "loop_abort "+steps+" parse_errors")
			if w.when("call s/fast") >= 0 {
				t.Error("the call that can't be read was made")
			}
			if most == 0 {
				return
			}
			asked := w.model.last().Messages
			if alternates(t, asked); len(asked) != 3 || !strings.HasPrefix(asked[2].Content, "s/echo got {}\n\n") || !strings.Contains(asked[2].Content, "s__fast") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

// TestCallsWrittenAsText are made as well, and the host has had the text as it was written.
func TestCallsWrittenAsText(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{{text: "Let me see.\n<tool_call>{'name': 's__echo', 'arguments': {'a': 1,},}</tool_call>"}, {text: "done"}}
		w.run()
		w.inOrder("SaveStep 0", "call s/echo", "tool_done 0 s/echo ok", "final 1 done")
		asked := w.model.last().Messages[1]
		if asked.Content != "Let me see." || len(asked.Calls) != 1 || asked.Calls[0].Arguments != `{"a":1}` || asked.Calls[0].ID == "" {
			t.Errorf("asked %+v", asked)
		}
	})
}
