package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestParkedTurn gives its places up while another chat has the session, and nothing else.
func TestParkedTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sessions.wait = 10 * time.Second
		w.options.Unpark = func(ctx context.Context) error {
			w.note("unpark")
			return pause(ctx, 5*time.Second)
		}
		w.model.script = []said{{text: "done"}}
		w.run()
		w.happened("run_start hi", "park", "Open", "unpark", "Begin", "List *", "llm_start 0", "llm_done 0", "End done done", "final 0 done", "Close")
		if w.when("unpark") != 10*time.Second || w.when("Begin") != 15*time.Second {
			t.Errorf("%q at %v", w.journal, w.at)
		}
	})
}

// TestServerStartsWhileToolsConnect, and the others don't wait for them.
func TestServerStartsWhileToolsConnect(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, time.Minute} {
		inWorld(t, func(w *world) {
			w.tools.connect = 5 * time.Second
			w.options.Warm = func(ctx context.Context) error {
				w.note("warm")
				defer w.note("warmed")
				return pause(ctx, takes)
			}
			w.model.script = []said{{text: "done"}}
			w.run()
			w.inOrder("List *", "yield", "warm", "warmed", "llm_start 0", "final 0 done")
			if w.when("warm") != 0 || w.when("warmed") != min(takes, 5*time.Second) || w.when("llm_start 0") != 5*time.Second || w.result.ToolTime != 5*time.Second {
				t.Errorf("%q at %v", w.journal, w.at)
			}
			if len(w.told) < 2 || w.told[0] == nil || w.told[0].Stage != wire.PhaseTool || w.told[1] != nil {
				t.Errorf("progress %+v", w.told)
			}
		})
	}
}

// TestProgressOfTools names those that run, each once.
func TestProgressOfTools(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.script = []said{calling("{}", "a s__slow", "b s__fast", "c s__slow"), {text: "done"}}
		w.run()
		var details []string
		for _, p := range w.told {
			if p != nil {
				details = append(details, p.Detail)
			}
		}
		if len(details) != 1 || details[0] != "s/slow, s/fast" || w.told[len(w.told)-1] != nil {
			t.Errorf("progress %q", details)
		}
	})
}

// TestToolsMayComeWhileTheModelLoads: the turn has to wait for the model anyway, so it looks again for what
// was missing when it has loaded.
func TestToolsMayComeWhileTheModelLoads(t *testing.T) {
	for _, late := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.tools.connect, w.tools.late, w.tools.warnings = 5*time.Second, late, []string{"the server x is missing"}
			w.options.Warm = func(ctx context.Context) error { return pause(ctx, 20*time.Second) }
			w.model.script = []said{{text: "done"}}
			w.run()
			if w.when("llm_start 0") != 20*time.Second || w.result.ToolTime != 5*time.Second || w.result.LoadTime != 15*time.Second || len(w.model.last().Tools) != len(catalogue) {
				t.Errorf("%q at %v: %+v", w.journal, w.at, w.result)
			}
			if late {
				w.warned()
			} else {
				w.warned("the server x is missing")
			}
		})
	}
}

// TestCancelWhileTheModelLoadsForTools ends the wait.
func TestCancelWhileTheModelLoadsForTools(t *testing.T) {
	inWorld(t, func(w *world) {
		w.tools.connect, w.tools.warnings = time.Second, []string{"the server x is missing"}
		w.options.Warm = pauseMinute
		w.cancelAt(5 * time.Second)
		w.closed()
		w.inOrder("Open", "End cancelled ", "Close")
		if w.count("llm_start") > 0 || w.told[len(w.told)-1] != nil {
			t.Errorf("%q, progress %+v", w.journal, w.told)
		}
	})
}

// TestModelThatCannotStartEndsTheTurnAtOnce: neither are the tools waited for any longer, nor is the start
// tried again.
func TestModelThatCannotStartEndsTheTurnAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.tools.connect, w.tools.warnings = 5*time.Second, []string{"the server x is missing"}
		w.options.Warm = func(ctx context.Context) error {
			_ = pause(ctx, time.Second)
			return fmt.Errorf("wrapped: %w", wire.NewFault(wire.CodeModelMissing, "no such file"))
		}
		w.run()
		var fault *wire.Fault
		if !errors.As(w.err, &fault) || fault.Code != wire.CodeModelMissing || w.count("llm_start") > 0 || w.when("Close") != time.Second {
			t.Errorf("%v: %q at %v", w.err, w.journal, w.at)
		}
	})
}
