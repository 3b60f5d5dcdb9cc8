package llama

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// mostCalls is how many calls of one answer are told apart; what comes after them counts as one more.
// It is above what transform keeps.
const mostCalls = 256

// callReader reads the pieces of tool calls. It numbers the calls in the order in which they begin:
// servers leave the index out, or give the same one to all calls of an answer.
type callReader struct{ begun []begunCall }

// begunCall is how a server refers to a call.
type begunCall struct {
	index int64 // -1 for none
	id    string
}

// read appends the pieces of a delta to out, and reports whether there were any.
func (c *callReader) read(delta gjson.Result, out *wire.Tokens) bool {
	before := len(out.Calls)
	calls := delta.Get("tool_calls")
	if calls.IsObject() {
		c.piece(calls, out)
	}
	if calls.IsArray() {
		calls.ForEach(func(_, piece gjson.Result) bool {
			c.piece(piece, out)
			return true
		})
	}
	if legacy := delta.Get("function_call"); legacy.IsObject() && len(out.Calls) == before { // the OpenAI API before tool_calls: one call
		c.add(c.number(0, "", ""), "", legacy, out)
	}
	return len(out.Calls) > before
}

func (c *callReader) piece(piece gjson.Result, out *wire.Tokens) {
	if !piece.IsObject() {
		return
	}
	index := int64(-1)
	if i := piece.Get("index"); i.Type == gjson.Number && i.Num >= 0 {
		index = i.Int()
	}
	id, function := plainText(piece.Get("id")), piece.Get("function")
	c.add(c.number(index, id, plainText(function.Get("name"))), id, function, out)
}

func (c *callReader) add(number int, id string, function gjson.Result, out *wire.Tokens) {
	delta := wire.CallDelta{Index: number, ID: id, Function: plainText(function.Get("name"))}
	switch arguments := function.Get("arguments"); arguments.Type {
	case gjson.Null:
	case gjson.String:
		delta.Arguments = plainText(arguments)
	default: // some servers send the object itself
		delta.Arguments = strings.Clone(arguments.Raw)
	}
	out.Calls = append(out.Calls, delta)
}

// plainText copies a string's text out of the chunk.
func plainText(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.Clone(v.Str)
}

// number returns which call a piece belongs to. Another id begins another call, whatever the index;
// without both, a name does.
func (c *callReader) number(index int64, id, name string) int {
	for i, b := range slices.Backward(c.begun) {
		sameID := id != "" && id == b.id
		sameIndex := index >= 0 && index == b.index && (id == "" || b.id == "")
		if sameID && (index < 0 || b.index < 0 || index == b.index) || sameIndex {
			if b.id == "" {
				c.begun[i].id = id
			}
			return i
		}
	}
	if last := len(c.begun) - 1; index < 0 && id == "" && name == "" && last >= 0 {
		return last
	}
	if len(c.begun) < mostCalls {
		c.begun = append(c.begun, begunCall{index, id})
		return len(c.begun) - 1
	}
	return mostCalls
}
