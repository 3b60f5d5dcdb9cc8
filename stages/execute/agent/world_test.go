package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// world is a turn between fakes, which all write to one journal what happens, in its order.
type world struct {
	t         *testing.T
	model     *fakeModel
	tools     *fakeTools
	sessions  *fakeSessions
	memory    *fakeMemory
	approvals *fakeApprovals
	options   Options
	ctx       context.Context
	cancel    context.CancelCauseFunc

	result Result
	err    error

	mu      sync.Mutex
	start   time.Time
	journal []string
	at      []time.Duration // of each entry of the journal, since the start
	events  []wire.Event
	told    []*wire.Progress
}

var errStop = errors.New("cancelled by the test")

// inWorld runs a test in a bubble. The turn's session is "s", its input "hi", its agent has all tools.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, start: time.Now(), result: Result{Warnings: []string{}}}
		w.model = &fakeModel{world: w}
		w.tools = &fakeTools{world: w, list: catalogue}
		w.sessions = &fakeSessions{world: w, turns: map[string][]*wire.Turn{}}
		w.approvals = &fakeApprovals{world: w, possible: true, answers: map[string]chan Answer{}}
		w.ctx, w.cancel = context.WithCancelCause(t.Context())
		w.options = Options{
			Agent:  Agent{Name: "assistant", MaxSteps: 8, Tools: []string{"*"}},
			UserID: "u", SessionID: "s", TraceID: "trace", Input: "hi", ResultBytes: 64 << 10, MaxParseErrors: 3, CallIDs: true,
			Model: w.model, Tools: w.tools, Sessions: w.sessions, Approvals: w.approvals,
			Event: w.event, Progress: func(p *wire.Progress) { w.told = append(w.told, p) },
			Yield: func() { w.note("yield") }, Park: func() { w.note("park") },
			Unpark: func(context.Context) error { w.note("unpark"); return nil },
		}
		test(w)
		w.cancel(nil)
		synctest.Wait()
	})
}

// run runs the turn to its end.
func (w *world) run() {
	w.t.Helper()
	w.err = Run(w.ctx, w.options, &w.result)
}

// cancelAt runs the turn and cancels it after a time.
func (w *world) cancelAt(d time.Duration) {
	w.t.Helper()
	time.AfterFunc(d, func() { w.cancel(errStop) })
	w.run()
	if !errors.Is(w.err, errStop) {
		w.t.Errorf("it ended with %v", w.err)
	}
	if took := time.Since(w.start); took != d {
		w.t.Errorf("it ended after %v; cancelled after %v", took, d)
	}
}

// again takes a second turn up in the same world, with a journal of its own.
func (w *world) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.cancel = context.WithCancelCause(w.t.Context())
	w.result, w.err, w.journal, w.at, w.events, w.start = Result{Warnings: []string{}}, nil, nil, nil, nil, time.Now()
	w.model.asked, w.model.played = nil, 0
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = append(w.journal, fmt.Sprintf(format, args...))
	w.at = append(w.at, time.Since(w.start))
}

func (w *world) event(e wire.Event) {
	w.mu.Lock()
	w.events = append(w.events, e)
	w.mu.Unlock()
	switch d := e.Detail.(type) {
	case *wire.RunStart:
		w.note("run_start %s", d.UserInput)
	case *wire.ToolStart:
		w.note("tool_start %d %s", e.Step, d.Tool)
	case *wire.ToolDone:
		w.note("tool_done %d %s %s", e.Step, d.Tool, d.Status)
	case *wire.LoopAbort:
		w.note("loop_abort %d %s", e.Step, d.Reason)
	default:
		w.noteOther(e)
	}
}

func (w *world) noteOther(e wire.Event) {
	switch e.Kind {
	case wire.EventMemoryStart:
		w.note("memory_start")
	case wire.EventFinal:
		w.note("final %d %s", e.Step, e.Text)
	default:
		w.t.Errorf("an event of the kind %d", e.Kind)
	}
}

// happened compares the journal.
func (w *world) happened(want ...string) {
	w.t.Helper()
	if !slices.Equal(w.journal, want) {
		w.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(w.journal, "\n  "), strings.Join(want, "\n  "))
	}
}

// count counts the entries of the journal that begin so.
func (w *world) count(prefix string) (n int) {
	for _, entry := range w.journal {
		if strings.HasPrefix(entry, prefix) {
			n++
		}
	}
	return n
}

// inOrder checks that the journal has these entries, each once, in this order.
func (w *world) inOrder(entries ...string) {
	w.t.Helper()
	last := -1
	for _, entry := range entries {
		at := slices.Index(w.journal, entry)
		if at <= last || slices.Contains(w.journal[at+1:], entry) {
			w.t.Errorf("%q is not at its place in\n  %s", entry, strings.Join(w.journal, "\n  "))
			return
		}
		last = at
	}
}

// when returns when an entry was written; a negative time when it wasn't.
func (w *world) when(entry string) time.Duration {
	if at := slices.Index(w.journal, entry); at >= 0 {
		return w.at[at]
	}
	return -1
}

// closed checks what holds at the end of every turn: each start has its end, and the session is given
// back after everything else.
func (w *world) closed() {
	w.t.Helper()
	for begin, end := range map[string]string{"llm_start": "llm_done", "tool_start": "tool_done", "Open": "Close"} {
		if w.count(begin) != w.count(end) {
			w.t.Errorf("%d times %s and %d times %s:\n  %s", w.count(begin), begin, w.count(end), end, strings.Join(w.journal, "\n  "))
		}
	}
	if n := len(w.journal); w.count("Close") > 0 && w.journal[n-1] != "Close" {
		w.t.Errorf("the session was not closed last:\n  %s", strings.Join(w.journal, "\n  "))
	}
}

// warned checks that each warning has its text, in order.
func (w *world) warned(texts ...string) {
	w.t.Helper()
	if len(w.result.Warnings) != len(texts) {
		w.t.Errorf("warnings %q; want %q", w.result.Warnings, texts)
		return
	}
	for i, text := range texts {
		if !strings.Contains(w.result.Warnings[i], text) {
			w.t.Errorf("warning %q; want %q", w.result.Warnings[i], text)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 { // a timer that is due at once crashes the race detector in a bubble now and then (Go 1.26)
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
