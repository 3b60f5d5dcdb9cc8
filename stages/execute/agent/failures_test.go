package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func pauseMinute(ctx context.Context) error { return pause(ctx, time.Minute) }

// TestSessionWritesThatFail are told once, and the turn goes on.
func TestSessionWritesThatFail(t *testing.T) {
	for _, broken := range []string{"Begin", "SaveStep", "StartCall", "EndCall", "End", "Begin SaveStep StartCall EndCall End"} {
		inWorld(t, func(w *world) {
			w.sessions.broken = broken
			w.model.script = []said{calling("{}", "a s__echo", "b s__fails"), calling("{}", "a s__echo"), {text: "done"}}
			if strings.HasPrefix(broken, "SaveStep") { // then there is no row for its calls
				w.sessions.broken += " StartCall EndCall"
			}
			w.run()
			w.closed()
			w.warned("the disk is full; free some space")
			calls := 3
			if broken == "StartCall" { // a resumed turn would make them again
				calls = 0
			}
			if w.err != nil || string(w.result.Response) != "done" || w.count("call") != calls || w.when("final 2 done") < 0 {
				t.Errorf("%s: %v, %q", broken, w.err, w.journal)
			}
			if strings.HasPrefix(broken, "Begin") && w.count("SaveStep")+w.count("End") > 0 {
				t.Errorf("a turn without a row was written to: %q", w.journal)
			}
		})
	}
}

// TestSessionReadsThatFail leave a turn without its past, and say so.
func TestSessionReadsThatFail(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sessions.broken, w.options.Resume = "History Last", true
		w.model.script = []said{{text: "done"}}
		w.run()
		w.warned("nothing was resumed: the disk is full", "the model doesn't know them: the disk is full")
		w.inOrder("Begin", "run_start hi", "End done done", "final 0 done")
	})
}

// TestWarningsOfOthers reach the host: the session's, the tools' and the memory's, each once.
func TestWarningsOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sessions.warnings = []string{"a row was set aside"}
		w.tools.warnings = []string{"the server x is missing", "the server x is missing"}
		w.options.Memory = &fakeMemory{world: w, err: errors.New("the index is damaged")}
		w.model.script = []said{{text: "done"}}
		w.run()
		w.warned("a row was set aside", "the server x is missing", "the memory was not used: the index is damaged")
		w.inOrder("memory_start", "final 0 done")
	})
}

// TestDamageThatIsMetDuringTheTurn reaches the host, beside what was known at its begin.
func TestDamageThatIsMetDuringTheTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sessions.warnings, w.sessions.met = []string{"a row was set aside"}, "the file was set aside"
		w.model.script = []said{{text: "done"}}
		w.run()
		w.warned("a row was set aside", "the file was set aside")
	})
}

// TestUnknownTool is told to the model, with what it can call instead, and nothing is called.
func TestUnknownTool(t *testing.T) {
	for name, c := range map[string]struct {
		tools []wire.Tool
		want  []string
	}{
		"with others":    {catalogue, []string{"There is no tool s__nothing", "s__echo, s__fails"}},
		"with no others": {nil, []string{"There is no tool s__nothing", "nor any other"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.tools.list = c.tools
				w.model.script = []said{calling(`{"a":1}`, "a s__nothing"), {text: "done"}}
				w.run()
				w.closed()
				w.inOrder("SaveStep 0", "tool_start 0 s__nothing", "EndCall 0.0 error", "tool_done 0 s__nothing error", "final 1 done")
				for _, want := range c.want {
					if told := w.model.last().Messages[2].Content; !strings.Contains(told, want) {
						t.Errorf("the model was told %q", told)
					}
				}
				if w.count("call") != 0 || w.count("StartCall") != 0 {
					t.Errorf("got %q", w.journal)
				}
			})
		})
	}
}

// TestUnknownToolOfALongName: what a model makes up doesn't fill its own prompt.
func TestUnknownToolOfALongName(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 1000 {
			w.tools.list = append(w.tools.list, tool("s/"+strings.Repeat("t", 30)))
		}
		w.model.script = []said{calling("{}", "a "+strings.Repeat("é", 100)), {text: "done"}}
		w.run()
		if told := w.model.last().Messages[2].Content; len(told) > 2200 || !strings.Contains(told, strings.Repeat("é", 32)+". ") {
			t.Errorf("the model was told %q", told)
		}
	})
}

// TestCallThatPanics ends alone: the calls beside it and the turn go on, and the log has what happened.
func TestCallThatPanics(t *testing.T) {
	inWorld(t, func(w *world) {
		var log bytes.Buffer
		w.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w.model.script = []said{calling("{}", "a s__panics", "b s__fast"), {text: "done"}}
		w.run()
		w.closed()
		w.inOrder("EndCall 0.0 error", "tool_done 0 s/panics error", "tool_done 0 s/fast ok", "final 1 done")
		if told := w.model.last().Messages[2].Content; strings.Contains(told, "told to") || !strings.Contains(log.String(), "told to") {
			t.Errorf("the model was told %q, the log %s", told, &log)
		}
	})
}
