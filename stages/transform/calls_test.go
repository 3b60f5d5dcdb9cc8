package transform

import (
	"reflect"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// pieces makes a batch of pieces of calls.
func pieces(list ...wire.CallDelta) *wire.Tokens { return &wire.Tokens{Calls: list} }

func delta(index int, id, function, arguments string) wire.CallDelta {
	return wire.CallDelta{Index: index, ID: id, Function: function, Arguments: arguments}
}

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		batches []*wire.Tokens
		want    []wire.ToolCall
	}{
		"none": {[]*wire.Tokens{content("a")}, nil},
		"one in pieces": {[]*wire.Tokens{pieces(delta(0, "a", "f", "{"), delta(0, "", "", `"x":`)), pieces(delta(0, "", "", "1}"))},
			[]wire.ToolCall{{ID: "a", Function: "f", Arguments: `{"x":1}`}}},
		"two, mixed": {[]*wire.Tokens{pieces(delta(1, "b", "g", "["), delta(0, "a", "f", "{"), delta(1, "", "", "]"), delta(0, "", "", "}"))},
			[]wire.ToolCall{{ID: "a", Function: "f", Arguments: "{}"}, {ID: "b", Function: "g", Arguments: "[]"}}},
		"a name comes once":   {[]*wire.Tokens{pieces(delta(0, "a", "f", ""), delta(0, "a", "f", "{}"))}, []wire.ToolCall{{ID: "a", Function: "f", Arguments: "{}"}}},
		"an index left out":   {[]*wire.Tokens{pieces(delta(2, "a", "f", "{}"))}, []wire.ToolCall{{ID: "a", Function: "f", Arguments: "{}"}}},
		"empty":               {[]*wire.Tokens{pieces(wire.CallDelta{})}, nil},
		"without a name":      {[]*wire.Tokens{pieces(delta(0, "a", "", "{}"))}, []wire.ToolCall{{ID: "a", Arguments: "{}"}}},
		"without ids":         {[]*wire.Tokens{pieces(delta(0, "", "f", ""), delta(1, "", "f", ""))}, []wire.ToolCall{{ID: "call_3_0", Function: "f"}, {ID: "call_3_1", Function: "f"}}},
		"the same id":         {[]*wire.Tokens{pieces(delta(0, "call_3_1", "f", ""), delta(1, "call_3_1", "f", ""))}, []wire.ToolCall{{ID: "call_3_1", Function: "f"}, {ID: "call_3_257", Function: "f"}}},
		"a character in two":  {[]*wire.Tokens{pieces(delta(0, "a", "f", "\xc3"), delta(0, "", "", "\xa9"))}, []wire.ToolCall{{ID: "a", Function: "f", Arguments: "é"}}},
		"half a character":    {[]*wire.Tokens{pieces(delta(0, "a\xff", "f\xff", "x\xc3"))}, []wire.ToolCall{{ID: "a\ufffd", Function: "f\ufffd", Arguments: "x\ufffd"}}},
		"a nonsensical index": {[]*wire.Tokens{pieces(delta(-1, "a", "f", ""))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			step := New(Options{Step: 3})
			for _, b := range c.batches {
				step.Apply(b)
			}
			step.Flush()
			if got := step.Calls(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestTooManyCallsAreLeftOut(t *testing.T) {
	step := New(Options{})
	for i := range maxCalls + 3 {
		step.Apply(pieces(wire.CallDelta{Index: i, Function: "f"}))
	}
	if n, cut := len(step.Calls()), step.Cut(); n != maxCalls || cut != (Cut{Pieces: 3}) {
		t.Errorf("%d calls, %+v", n, cut)
	}
}

// TestArgumentsAreBounded: what was cut off must not look like arguments, and makes room for others.
func TestArgumentsAreBounded(t *testing.T) {
	step := New(Options{})
	half := strings.Repeat("x", maxArguments/2)
	for _, piece := range []wire.CallDelta{delta(0, "a", "f", half), delta(1, "b", "g", "{}"), delta(0, "", "", half), delta(0, "", "", "}"), delta(2, "c", "h", half)} {
		step.Apply(pieces(piece))
	}
	calls := step.Calls()
	if len(calls) != 3 || calls[0].Arguments != tooLongNote || calls[1].Arguments != "{}" || calls[2].Arguments != half {
		t.Errorf("%.300v", calls)
	}
	if step.Cut() != (Cut{TooLong: 1}) {
		t.Errorf("%+v", step.Cut())
	}
}
