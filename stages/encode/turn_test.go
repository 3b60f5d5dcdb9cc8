package encode

import (
	"math"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func TestTurnEvents(t *testing.T) {
	const raw = "a\n\"\u2028\x00\xff"
	const text = `"a\n\"\u2028\u0000` + "\ufffd\""
	tool := "fs/" + raw
	for want, event := range map[string]wire.Event{
		`"event":"memory_start"}`: {Kind: wire.EventMemoryStart, Step: 3},
		`"event":"tool_start","step":3,"tool":"fs/read","args":{"path":"a b"}}`: {Kind: wire.EventToolStart, Step: 3, Detail: &wire.ToolStart{
			Tool: "fs/read", Args: "{ \"path\":\n\"a b\" }"}},
		`"event":"tool_start","step":3,"tool":"fs/` + text[1:] + `,"args":{},"call_id":` + text + `}`: {Kind: wire.EventToolStart, Step: 3, Detail: &wire.ToolStart{
			Tool: tool, Args: "no object", CallID: raw}},
		`"event":"tool_done","step":3,"tool":"fs/read","status":"ok","preview":` + text + `,"retryable":false,"ms":1234}`: {Kind: wire.EventToolDone, Step: 3, Detail: &wire.ToolDone{
			Tool: "fs/read", Status: wire.ToolOK, Preview: raw, Took: 1234567 * time.Microsecond}},
		`"event":"tool_done","step":0,"tool":"x","status":"timeout","preview":"","retryable":true,"ms":0,"call_id":"c1"}`: {Kind: wire.EventToolDone, Detail: &wire.ToolDone{
			Tool: "x", Status: wire.ToolTimeout, Retryable: true, CallID: "c1"}},
		`"event":"tool_approval","step":1,"call_id":"c1","tool":"fs/rm","args":{"a":[1]},"expires_ms":120000}`: {Kind: wire.EventToolApproval, Step: 1, Detail: &wire.ToolApproval{
			CallID: "c1", Tool: "fs/rm", Args: `{"a": [1]}`, Expires: 2 * time.Minute}},
		`"event":"loop_abort","step":7,"reason":"max_steps"}`: {Kind: wire.EventLoopAbort, Step: 7, Detail: &wire.LoopAbort{Reason: wire.AbortMaxSteps}},
		`"event":"progress","stage":"tool","fraction":null,"detail":` + text + `}`: {Kind: wire.EventProgress, Step: 3, Detail: &wire.Progress{
			Stage: wire.PhaseTool, Fraction: -1, Detail: raw}},
	} {
		class := wire.BestEffort
		switch event.Kind {
		case wire.EventToolApproval:
			class = wire.Guaranteed
		case wire.EventProgress:
			class = wire.LatestWins
		}
		e := NDJSON{}.Events(`7`, true)
		f := e.Apply(&wire.Events{Items: []wire.Event{event}}).Items[0]
		check(t, f, class, `{"id":7,"type":"event",`+want)
		if f.Deferred != nil || len(f.Text) > 0 {
			t.Errorf("%s is not a plain line", want)
		}
	}
}

func TestFractions(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", 0.5: "0.5", 1.0 / 3: "0.333", 2.0 / 3: "0.667", 0.0004: "0", 1e-300: "0", 0.9996: "1", 1.5: "1", math.Inf(1): "1",
		-1: "null", -1e-9: "null", math.Inf(-1): "null", math.NaN(): "null",
	} {
		if got := string(fraction(nil, f)); got != want {
			t.Errorf("%v became %s, want %s", f, got, want)
		}
	}
}

// TestProgressHasOneKey: the newest counts, whatever the stage; text never joins it.
func TestProgressHasOneKey(t *testing.T) {
	e := NDJSON{}.Events("1", false)
	frames := e.Apply(&wire.Events{Items: []wire.Event{
		{Kind: wire.EventProgress, Detail: &wire.Progress{Stage: wire.PhaseQueue}},
		{Kind: wire.EventProgress, Step: 4, Detail: &wire.Progress{Stage: wire.PhasePrompt}},
		{Kind: wire.EventChunk},
	}}).Items
	if frames[0].Key != frames[1].Key || frames[0].Key == frames[2].Key {
		t.Errorf("the keys are %d, %d and %d", frames[0].Key, frames[1].Key, frames[2].Key)
	}
}

// TestTurnEventsInASCII covers every text that somebody else wrote.
func TestTurnEventsInASCII(t *testing.T) {
	const text = "é😀\u0085"
	e := NDJSON{ASCII: true}.Events("1", false)
	for _, detail := range []wire.Event{
		{Kind: wire.EventToolStart, Detail: &wire.ToolStart{Tool: text, Args: `{"` + text + `":"` + text + `"}`, CallID: text}},
		{Kind: wire.EventToolDone, Detail: &wire.ToolDone{Tool: text, Preview: text, CallID: text}},
		{Kind: wire.EventToolApproval, Detail: &wire.ToolApproval{Tool: text, Args: `{"` + text + `":"` + text + `"}`, CallID: text}},
		{Kind: wire.EventProgress, Detail: &wire.Progress{Detail: text}},
	} {
		got := string(line(e.Apply(&wire.Events{Items: []wire.Event{detail}}).Items[0]))
		if i := strings.IndexFunc(got, func(r rune) bool { return r > '~' }); i >= 0 || !strings.Contains(got, `\u00e9\ud83d\ude00\u0085`) {
			t.Errorf("beyond ASCII at %d: %s", i, got)
		}
	}
}

// TestLargeArguments are sent whole, and the encoder doesn't keep their memory.
func TestLargeArguments(t *testing.T) {
	e := NDJSON{}.Events("1", false)
	args := `{"text":"` + strings.Repeat("é ", 1<<17) + `"}`
	start := wire.Event{Kind: wire.EventToolStart, Detail: &wire.ToolStart{Tool: "fs/write", Args: args}}
	f := e.Apply(&wire.Events{Items: []wire.Event{start}}).Items[0]
	check(t, f, wire.BestEffort, `{"id":1,"type":"event","event":"tool_start","step":0,"tool":"fs/write","args":`+args+`}`)
	e.Apply(&wire.Events{})
	if cap(e.buf) > keptLines {
		t.Errorf("%d bytes are kept", cap(e.buf))
	}
}
