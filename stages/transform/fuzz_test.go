package transform

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/wire"
)

// FuzzCalls deals pieces of arguments to calls: each call has its own, in order and whole, whatever the
// ids are, which differ in the end.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 64, 255}, `{"a":1}`, "id")
	f.Add([]byte{3, 3, 2}, "\xc3\xa9\xff", "")
	f.Add([]byte{1, 0}, "x", "call_0_1")
	f.Fuzz(func(t *testing.T, indexes []byte, text, id string) {
		step, want := New(Options{}), map[int]string{}
		for i, index := range indexes {
			from := i * len(text) / len(indexes)
			piece := wire.CallDelta{Index: int(index), ID: id, Function: "f", Arguments: text[from : (i+1)*len(text)/len(indexes)]}
			step.Apply(pieces(piece))
			if piece.Index < maxCalls {
				want[piece.Index] += piece.Arguments
			}
		}
		calls, ids := step.Calls(), map[string]bool{}
		if len(calls) != len(want) {
			t.Fatalf("%d calls; want %d", len(calls), len(want))
		}
		for i, index := range slices.Sorted(maps.Keys(want)) {
			if got := calls[i]; got.Arguments != strings.ToValidUTF8(want[index], "\ufffd") || got.ID == "" || ids[got.ID] {
				t.Fatalf("call %d is %+v; want %q", index, got, want[index])
			}
			ids[calls[i].ID] = true
		}
	})
}

// FuzzTransform cuts a text into tokens and batches anyhow: it must come out as encoding/json reads it
// in one piece, every event a JSON text of its own at its offset.
func FuzzTransform(f *testing.F) {
	f.Add([]byte("plain text"), []byte{1, 0, 5}, false)
	f.Add([]byte("\xf0\x9f\x98\x80\xe2\x82\xac\xc3"), []byte{1, 1, 1, 1, 1, 1, 1, 1}, true)
	f.Add([]byte(`\ud83d\ude00\ud83dx\ude00\n\"\\\u2028\u0000`), []byte{3, 1, 2, 7, 1, 1, 5, 3}, false)
	f.Add([]byte("\u2028\u0085\x7f\xff\xc0\x80\xed\xa0\x80"), []byte{9, 0, 4, 1, 1, 3, 1, 1}, true)
	f.Add([]byte("\xe2\\ud83d\x82\\ude00\xac"), []byte{1, 1, 1, 1, 1}, false)
	f.Fuzz(func(t *testing.T, text, cuts []byte, ascii bool) {
		texts := map[wire.TokenKind][]byte{}
		var batches []*wire.Tokens
		for i, unit := range units(text) {
			cut := byte(1)
			if i < len(cuts) {
				cut = cuts[i]
			}
			kind := wire.TokenContent
			if cut&4 != 0 {
				kind = wire.TokenReasoning
			}
			texts[kind] = append(texts[kind], unit...)
			batches = cutInto(batches, kind, unit, cut)
		}
		got := run(t, Options{ASCII: ascii, Reasoning: true}, batches)
		for kind, event := range map[wire.TokenKind]wire.EventKind{wire.TokenContent: wire.EventChunk, wire.TokenReasoning: wire.EventReasoning} {
			if want := decoded(t, texts[kind]); got[event] != want {
				t.Errorf("got %q; want %q", got[event], want)
			}
		}
	})
}

// units cuts a text at the places where tokens may end: between bytes, but not within an escape.
// What may not stand inside a JSON string is left out.
func units(text []byte) (list [][]byte) {
	for len(text) > 0 {
		size := 1
		switch {
		case text[0] == '\\':
			size = escapeSize(text)
		case text[0] < ' ' || text[0] == '"':
			size = 0
		}
		if size > 0 {
			list = append(list, text[:size])
		}
		text = text[max(size, 1):]
	}
	return list
}

func escapeSize(text []byte) int {
	for _, size := range []int{2, 6} {
		if len(text) >= size && json.Valid(quoted(text[:size])) {
			return size
		}
	}
	return 0
}

func quoted(inner []byte) []byte {
	return append(append([]byte{'"'}, inner...), '"')
}

// cutInto adds a unit to the last token, or starts a token (cut bit 0) or a batch (bit 1) with it.
func cutInto(batches []*wire.Tokens, kind wire.TokenKind, unit []byte, cut byte) []*wire.Tokens {
	if len(batches) == 0 || cut&2 != 0 {
		batches = append(batches, &wire.Tokens{})
	}
	b := batches[len(batches)-1]
	n := len(b.Items)
	if n == 0 || cut&1 != 0 || b.Items[n-1].Kind != kind {
		b.Items = append(b.Items, wire.Token{Kind: kind})
		n++
	}
	token := &b.Items[n-1]
	token.Raw = append(token.Raw, unit...)
	token.Plain = wire.IsPlain(token.Raw)
	return batches
}

// run returns the texts that the events make.
func run(t *testing.T, options Options, batches []*wire.Tokens) map[wire.EventKind]string {
	step, texts := New(options), map[wire.EventKind]string{}
	var chunks []byte
	take := func(events *wire.Events) {
		for _, e := range events.Items {
			if len(e.Text) == 0 || !utf8.Valid(e.Text) || bytes.ContainsAny(e.Text, "\x7f\u0085\u2028\u2029") {
				t.Fatalf("the text %q may not stand in a line", e.Text)
			}
			if e.Offset != int64(len(texts[e.Kind])) {
				t.Fatalf("%q is at %d; want %d", e.Text, e.Offset, len(texts[e.Kind]))
			}
			texts[e.Kind] += decoded(t, e.Text)
			if e.Kind == wire.EventChunk {
				chunks = append(chunks, e.Text...)
			}
		}
	}
	for _, b := range batches {
		take(step.Apply(b))
	}
	take(step.Flush())
	if !bytes.Equal(step.Response(), chunks) {
		t.Fatalf("the response is %q, the chunks are %q", step.Response(), chunks)
	}
	return texts
}

func decoded(t *testing.T, inner []byte) (text string) {
	if err := json.Unmarshal(quoted(inner), &text); err != nil {
		t.Fatalf("%q is not the inside of a JSON string: %v", inner, err)
	}
	return text
}
