package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// conversation puts turns into the session whose texts have some bytes each.
func (w *world) conversation(turns, bytes int) {
	for i := range turns {
		name := fmt.Sprintf("%03d", i)
		w.past(wire.Turn{Input: "q" + name + strings.Repeat("x", bytes-4), Response: "a" + name + strings.Repeat("y", bytes-4), Status: wire.TurnDone})
	}
}

// kept checks that the newest past turns were sent, whole and in order, and returns how many.
func (w *world) kept(r *wire.ModelRequest, turns int) (kept int) {
	w.t.Helper()
	for _, m := range r.Messages {
		if m.Role == wire.RoleUser && strings.HasPrefix(m.Content, "q") {
			kept++
		}
	}
	at := 0
	for at < len(r.Messages) && !strings.HasPrefix(r.Messages[at].Content, "q") {
		at++
	}
	for i := range kept {
		name := fmt.Sprintf("%03d", turns-kept+i)
		if q, a := r.Messages[at+2*i].Content, r.Messages[at+2*i+1].Content; !strings.HasPrefix(q, "q"+name) || !strings.HasPrefix(a, "a"+name) {
			w.t.Errorf("of %d turns %d were sent; %.8q and %.8q stand where %s should", turns, kept, q, a, name)
		}
	}
	return kept
}

// TestNewestTurnsThatFitAreSent, counted by the server, with the system prompt and the tools always.
func TestNewestTurnsThatFitAreSent(t *testing.T) {
	for seed := range uint64(100) {
		inWorld(t, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 3))
			turns := random.IntN(60)
			w.options.SystemPrompt = "be brief"
			w.options.MaxTokens = random.IntN(200)
			w.model.bytesEach, w.model.size = 1+random.IntN(4), 600+random.IntN(3000)
			w.conversation(turns, 10+random.IntN(200))
			w.model.script = []said{{text: "done"}}
			w.run()
			r := w.model.last()
			kept := w.kept(r, turns)
			if w.model.tokens(r) > (&prompt{turn: &turn{Options: w.options}, size: w.model.size}).limit() || w.when("overflow 0") >= 0 {
				t.Errorf("seed %d: %d tokens of %d were sent", seed, w.model.tokens(r), w.model.size)
			}
			if r.Messages[0].Content != "be brief" || r.Messages[len(r.Messages)-1].Content != "hi" || len(r.Tools) != len(catalogue) {
				t.Errorf("asked %+v", r)
			}
			if kept < turns {
				w.fuller(r, turns, kept)
			}
			w.warned()
			if w.model.counts > maxCounts {
				t.Errorf("it was counted %d times", w.model.counts)
			}
		})
	}
}

// fuller checks that not much more would have fitted.
func (w *world) fuller(r *wire.ModelRequest, turns, kept int) {
	w.t.Helper()
	each := 0
	for _, turn := range w.sessions.turns["u/s"][:1] {
		each = (len(turn.Input)+len(turn.Response))/w.model.bytesEach + 16
	}
	limit := (&prompt{turn: &turn{Options: w.options}, size: w.model.size}).limit()
	if could := kept + (limit-w.model.tokens(r))/each; kept < could-2 {
		w.t.Errorf("of %d turns %d were sent, %d would have fitted (%d tokens each, %d of %d used)", turns, kept, could, each, w.model.tokens(r), limit)
	}
}

// TestShortPromptsAreNotCounted: even a token for each byte would fit.
func TestShortPromptsAreNotCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.size = 100_000
		w.conversation(10, 100)
		w.model.script = []said{{text: "done"}}
		w.run()
		if w.kept(w.model.last(), 10) != 10 || w.model.counts != 0 {
			t.Errorf("it was counted %d times", w.model.counts)
		}
	})
}

// TestSpaceForTheAnswer is max_tokens, or a quarter of the context and at most maxReserve.
func TestSpaceForTheAnswer(t *testing.T) {
	for _, c := range []struct{ size, asked, limit int }{
		{1000, 0, 750}, {100_000, 0, 100_000 - maxReserve}, {1000, 100, 900}, {1000, 900, 500}, {0, 0, 0}, {0, 100, 0},
	} {
		p := prompt{turn: &turn{Options: Options{Agent: Agent{MaxTokens: c.asked}}}, size: c.size}
		if got := p.limit(); got != c.limit {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// TestWhatIsLeftOutFirst: past turns, then what memory found, then the middle of long results; never
// the system prompt, the tools and the input.
func TestWhatIsLeftOutFirst(t *testing.T) {
	for _, c := range []struct {
		size, kept      int
		memory, results bool // whole
	}{
		{30_000, 5, true, true}, {12_500, 1, true, true}, {9500, 0, true, true}, {8500, 0, false, true}, {7000, 0, false, false},
	} {
		inWorld(t, func(w *world) {
			w.options.SystemPrompt, w.options.MaxTokens = "be brief", 100
			w.options.Memory = &fakeMemory{world: w, snippets: []wire.Snippet{{Input: strings.Repeat("m", 100), Response: "yes"}}}
			w.conversation(5, 1500)
			w.tools.big = strings.Repeat("r", 8000)
			w.model.size = c.size
			w.model.script = []said{calling("{}", "a s__big"), {text: "done"}}
			w.run()
			r := w.model.last()
			kept := w.kept(r, 5)
			question, result := r.Messages[len(r.Messages)-3], r.Messages[len(r.Messages)-1]
			whole := result.Content == w.tools.big
			if kept != c.kept || strings.Contains(question.Content, memoryBegin) != c.memory || whole != c.results {
				t.Errorf("%d: %d turns, memory %v, result %d bytes, %d tokens", c.size, kept, strings.Contains(question.Content, memoryBegin), len(result.Content), w.model.tokens(r))
			}
			if !whole && (len(result.Content) > shortResult+200 || !strings.Contains(result.Content, "of 8000 bytes")) {
				t.Errorf("%d: the result is %q", c.size, result.Content)
			}
			if r.Messages[0].Content != "be brief" || !strings.HasSuffix(question.Content, "hi") || len(r.Tools) == 0 {
				t.Errorf("asked %+v", r)
			}
			w.warned()
		})
	}
}

// TestOverflow: what the server refuses as too long is made shorter and sent once more.
func TestOverflow(t *testing.T) {
	for _, hidden := range []int{2500, 5000, 9000} {
		inWorld(t, func(w *world) {
			w.model.hidden = hidden
			w.conversation(50, 200)
			w.model.script = []said{{text: "done"}}
			w.run()
			w.inOrder("llm_start 0", "overflow 0", "llm_done 0", "final 0 done")
			if kept := w.kept(w.model.last(), 50); kept < 1 || w.model.tokens(w.model.last()) > hidden || len(w.model.asked) != 2 {
				t.Errorf("%d turns, %d tokens of %d", kept, w.model.tokens(w.model.last()), hidden)
			}
			w.warned()
			w.closed()
		})
	}
}

// TestOverflowOfAnUnknownSize leaves some out, though the server doesn't say how much there is too
// much.
func TestOverflowOfAnUnknownSize(t *testing.T) {
	p := prompt{turn: &turn{}, loaded: true, keep: 8}
	for range 8 {
		p.history = append(p.history, wire.Turn{Input: strings.Repeat("q", 500), Response: strings.Repeat("a", 500)})
	}
	overflow := &wire.Overflow{Fault: wire.NewFault(wire.CodeInternal, "too long")}
	for keep := 8; keep > 0; {
		if _, err := p.prepare(t.Context(), nil, overflow); err != nil || p.keep >= keep || p.keep < keep/2 {
			t.Fatalf("%d turns were kept of %d: %v", p.keep, keep, err)
		}
		keep = p.keep
	}
	if _, err := p.prepare(t.Context(), nil, overflow); !errors.Is(err, error(overflow)) {
		t.Errorf("with nothing to leave out: %v", err)
	}
}

// TestAbortAfterAnOverflow: with nothing left to leave out, or when it was still too long.
func TestAbortAfterAnOverflow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		asked  int
	}{
		"nothing to leave out": {func(w *world) { w.options.Input = strings.Repeat("x", 3000) }, 2},
		"still too long": {func(w *world) {
			w.conversation(3, 100)
			w.options.Input = strings.Repeat("x", 3000)
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c.change(w)
				w.model.hidden = 3300
				w.model.script = []said{calling("{}", "a s__echo"), {text: "done"}}
				w.model.script[0].text = strings.Repeat("first ", 40)
				w.run()
				w.aborted("1", wire.AbortContextOverflow, strings.Repeat("first ", 40), "models[].ctx_size")
				w.inOrder("llm_start 1", "overflow 1", "llm_done 1", "loop_abort 1 context_overflow")
				if len(w.model.asked) > c.asked {
					t.Errorf("%d requests", len(w.model.asked))
				}
			})
		})
	}
}

// TestUnknownContextSize sends what the budget for it loads, uncounted.
func TestUnknownContextSize(t *testing.T) {
	inWorld(t, func(w *world) {
		w.conversation(200, 1000)
		w.model.script = []said{{text: "done"}}
		w.run()
		if kept := w.kept(w.model.last(), 200); kept != unknownHistory/2000 || w.model.counts != 0 {
			t.Errorf("%d turns were sent, %d times counted", kept, w.model.counts)
		}
	})
}

// TestResultsAreCutForTheModel alone: they are whole in the session, also those of past turns.
func TestResultsAreCutForTheModel(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options.ResultBytes = 1001
		w.tools.big = strings.Repeat("é", 5000)
		w.model.script = []said{calling("{}", "a s__big"), {text: "done"}}
		w.run()
		told := w.model.last().Messages[2].Content
		note := "\n[cut here: these are the first 1000 of 10000 bytes; ask for a smaller part if more is needed]"
		if told != strings.Repeat("é", 500)+note {
			t.Errorf("the model was told %q", told)
		}
		if kept := w.sessions.turns["u/s"][0].Steps[0].Calls[0].Result.Text; kept != w.tools.big {
			t.Errorf("%d bytes are stored", len(kept))
		}
		w.again()
		w.model.script = []said{{text: "done"}}
		w.run()
		if again := w.model.last().Messages[2].Content; again != told {
			t.Errorf("the next turn was told %q", again)
		}
	})
}
