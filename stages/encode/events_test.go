package encode

import (
	"bytes"
	"slices"
	"testing"

	"sluice/internal/wire"
)

// line joins a frame as the writer does.
func line(f wire.Frame) []byte {
	if f.Deferred != nil {
		return f.Deferred.AppendTo(nil, wire.Delivery{Sent: 99})
	}
	return slices.Concat(f.Head, f.Text, f.Tail)
}

// turn is one of each event, and what each becomes.
var turn = []struct {
	event           wire.Event
	class           wire.Class
	plain, extended string
}{
	{wire.Event{Kind: wire.EventRunStart, Detail: &wire.RunStart{UserInput: "a\n\"é\u2028", TraceID: "t1"}}, wire.BestEffort, `"event":"run_start","user_input":"a\n\"é\u2028","trace_id":"t1"}`, ""},
	{wire.Event{Kind: wire.EventLLMStart}, wire.BestEffort, `"event":"llm_start","step":0}`, ""},
	{wire.Event{Kind: wire.EventReasoning, Text: []byte("hm")}, wire.Mergeable, `"event":"llm_reasoning","step":0,"delta":"hm"}`, `"event":"llm_reasoning","step":0,"offset":0,"delta":"hm"}`},
	{wire.Event{Kind: wire.EventReasoning, Text: []byte("m"), Offset: 2}, wire.Mergeable, `"event":"llm_reasoning","step":0,"delta":"m"}`, `"event":"llm_reasoning","step":0,"offset":2,"delta":"m"}`},
	{wire.Event{Kind: wire.EventChunk, Text: []byte(`\"é`)}, wire.Mergeable, `"event":"llm_chunk","step":0,"delta":"\"é"}`, `"event":"llm_chunk","step":0,"offset":0,"delta":"\"é"}`},
	{wire.Event{Kind: wire.EventChunk, Text: []byte("b"), Offset: 3}, wire.Mergeable, `"event":"llm_chunk","step":0,"delta":"b"}`, `"event":"llm_chunk","step":0,"offset":3,"delta":"b"}`},
	{wire.Event{Kind: wire.EventLLMDone}, wire.BestEffort, `"event":"llm_done","step":0}`, ""},
	{wire.Event{Kind: wire.EventLLMStart, Step: 12}, wire.BestEffort, `"event":"llm_start","step":12}`, ""},
	{wire.Event{Kind: wire.EventChunk, Step: 12, Text: []byte("c")}, wire.Mergeable, `"event":"llm_chunk","step":12,"delta":"c"}`, `"event":"llm_chunk","step":12,"offset":0,"delta":"c"}`},
	{wire.Event{Kind: wire.EventFinal, Step: 12, Text: []byte(`c\u2028`)}, wire.BestEffort, `"event":"final","step":12,"response":"c\u2028"}`, ""},
}

// TestEvents encodes a turn event by event and as one batch: the lines are the same.
func TestEvents(t *testing.T) {
	for _, offsets := range []bool{false, true} {
		var all wire.Events
		single, batch := NDJSON{}.Events("\"é\u2028\"", offsets), NDJSON{}.Events("\"é\u2028\"", offsets)
		for _, c := range turn {
			all.Items = append(all.Items, c.event)
			got := single.Apply(&wire.Events{Items: []wire.Event{c.event}}).Items
			if len(got) != 1 {
				t.Fatalf("one event became %d frames", len(got))
			}
			check(t, got[0], c.class, want(c.plain, c.extended, offsets))
		}
		frames := batch.Apply(&all).Items
		for i, c := range turn {
			check(t, frames[i], c.class, want(c.plain, c.extended, offsets))
		}
	}
}

func want(plain, extended string, offsets bool) string {
	if offsets && extended != "" {
		plain = extended
	}
	return `{"id":"é\u2028","type":"event",` + plain
}

func check(t *testing.T, f wire.Frame, class wire.Class, want string) {
	t.Helper()
	golden(t, line(f), want)
	if f.Class != class || f.Event == "" || !bytes.Contains(line(f), []byte(`"`+f.Event+`"`)) {
		t.Errorf("class %d, event %q: %s", f.Class, f.Event, want)
	}
	if f.Deferred != nil && (f.Cost < len(line(f)) || f.Cost > len(line(f))+256) {
		t.Errorf("the cost is %d for %d bytes", f.Cost, len(line(f)))
	}
}

// TestKeys are what may be merged: chunks of one step with one another, and nothing else.
func TestKeys(t *testing.T) {
	keys := map[uint32]string{}
	for _, kind := range []wire.EventKind{wire.EventChunk, wire.EventReasoning} {
		for _, step := range []int{0, 1, 255, 65536} {
			e := NDJSON{}.Events("1", false)
			text := wire.Event{Kind: kind, Step: step, Text: []byte("x")}
			frames := e.Apply(&wire.Events{Items: []wire.Event{text, text}}).Items
			if frames[0].Key != frames[1].Key || keys[frames[0].Key] != "" {
				t.Errorf("the keys of kind %d, step %d are %d and %d", kind, step, frames[0].Key, frames[1].Key)
			}
			keys[frames[0].Key] = "taken"
		}
	}
}

// TestMergedLines joins the texts of two frames as the sink does: the line is whole, at the first
// frame's offset.
func TestMergedLines(t *testing.T) {
	e := NDJSON{}.Events("1", true)
	frames := e.Apply(&wire.Events{Items: []wire.Event{{Kind: wire.EventChunk, Text: []byte("ab"), Offset: 5}, {Kind: wire.EventChunk, Text: []byte(`\n`), Offset: 7}}}).Items
	merged := slices.Concat(frames[0].Head, frames[0].Text, frames[1].Text, frames[0].Tail)
	golden(t, merged, `{"id":1,"type":"event","event":"llm_chunk","step":0,"offset":5,"delta":"ab\n"}`)
}

func TestEventsInASCII(t *testing.T) {
	e := NDJSON{ASCII: true}.Events(`"é"`, false)
	frames := e.Apply(&wire.Events{Items: []wire.Event{{Kind: wire.EventRunStart, Detail: &wire.RunStart{UserInput: "é😀", TraceID: "t"}}, {Kind: wire.EventChunk, Text: []byte(`\u00e9`)}}}).Items
	golden(t, line(frames[0]), `{"id":"\u00e9","type":"event","event":"run_start","user_input":"\u00e9\ud83d\ude00","trace_id":"t"}`)
	golden(t, line(frames[1]), `{"id":"\u00e9","type":"event","event":"llm_chunk","step":0,"delta":"\u00e9"}`)
}

func TestChunksAllocateNothing(t *testing.T) {
	for _, offsets := range []bool{false, true} {
		e := NDJSON{}.Events(`"chat-1"`, offsets)
		batch := &wire.Events{}
		for i := range 50 {
			batch.Items = append(batch.Items, wire.Event{Kind: wire.EventChunk, Text: []byte(" streams"), Offset: int64(8 * i)})
		}
		if n := testing.AllocsPerRun(100, func() { e.Apply(batch) }); n != 0 {
			t.Errorf("offsets %v: %v allocations", offsets, n)
		}
	}
}
