package wire

import (
	"reflect"
	"testing"
)

// filled returns one batch of each kind, whose borrowed texts are cut from memory: three bytes "abc".
func filled(memory []byte) []Batch {
	a, b, c := memory[:1], memory[1:2], memory[2:3]
	return []Batch{
		&Lines{Items: []Line{{Bytes: a}, {TooLong: true}}},
		&Requests{Items: []Request{{ID: "1", Name: "ping", Size: 3}, {ID: `"a"`, RawParams: "{}"}}},
		&Tokens{Items: []Token{{Kind: TokenContent, Raw: a}, {Plain: true, Raw: b}}, Finish: "stop", Usage: &Usage{1, 2}},
		&Events{Items: []Event{{Kind: EventChunk, Text: a, Offset: 7}, {Kind: EventFinal, Text: c}}},
		&Frames{Items: []Frame{{Class: Mergeable, Head: a, Text: b, Tail: c}, {Class: Guaranteed, Cost: 3}}},
	}
}

func TestCloneBorrowsNothing(t *testing.T) {
	memory := []byte("abc")
	want := filled([]byte("abc"))
	for i, batch := range filled(memory) {
		copy(memory, "abc")
		clone := batch.Clone()
		copy(memory, "###")
		items := reflect.ValueOf(batch).Elem().FieldByName("Items")
		items.Index(0).SetZero()
		if !reflect.DeepEqual(clone, any(want[i])) {
			t.Errorf("got %+v; want %+v", clone, want[i])
		}
		if batch.Len() != 2 || clone.(Batch).Len() != 2 {
			t.Errorf("%T: lengths %d and %d", batch, batch.Len(), clone.(Batch).Len())
		}
	}
}

func TestChannelsGetClones(t *testing.T) {
	out := make(chan any, 1)
	lines := &Lines{Items: []Line{{Bytes: []byte("a")}}}
	if err := ToChannel(out).Push(t.Context(), lines); err != nil {
		t.Fatal(err)
	}
	copy(lines.Items[0].Bytes, "#")
	if got := (<-out).(*Lines); got == lines || string(got.Items[0].Bytes) != "a" {
		t.Errorf("got %+v", got)
	}
}

func TestFactsCountAsOneToken(t *testing.T) {
	for _, c := range []struct {
		batch Tokens
		want  int
	}{
		{Tokens{}, 0},
		{Tokens{Finish: "stop"}, 1},
		{Tokens{Usage: &Usage{}}, 1},
		{Tokens{Progress: &PromptProgress{}}, 1},
		{Tokens{Items: make([]Token, 3), Finish: "stop"}, 3},
	} {
		if got := c.batch.Len(); got != c.want {
			t.Errorf("%+v: got %d; want %d", c.batch, got, c.want)
		}
	}
}

func TestResetKeepsMemory(t *testing.T) {
	events := Events{Items: make([]Event, 3, 8)}
	frames := Frames{Items: make([]Frame, 3, 8)}
	tokens := Tokens{Items: make([]Token, 3, 8), Finish: "stop", Usage: &Usage{}, Progress: &PromptProgress{}}
	events.Reset()
	frames.Reset()
	tokens.Reset()
	if events.Len()+frames.Len()+tokens.Len() != 0 {
		t.Error("a batch is not empty")
	}
	if cap(events.Items) != 8 || cap(frames.Items) != 8 || cap(tokens.Items) != 8 {
		t.Error("a batch gave its memory away")
	}
	if tokens.Finish != "" || tokens.Usage != nil || tokens.Progress != nil {
		t.Errorf("facts are left: %+v", tokens)
	}
}

func TestFault(t *testing.T) {
	var err error = NewFault(CodeInvalidJSON, "line 3 is no JSON")
	if got := err.Error(); got != "invalid_json: line 3 is no JSON" {
		t.Error(got)
	}
}
