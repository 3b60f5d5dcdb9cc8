package transform

import (
	"strconv"
	"strings"

	"sluice/internal/wire"
)

const (
	// maxCalls is how many tool calls of one step are kept: more than a turn makes, so that the model can
	// be told how many were too many.
	maxCalls = 256
	// maxArguments bounds the arguments of one step's calls together, in bytes.
	maxArguments = 16 << 20
)

// calls are the tool calls of one step, by their index.
type calls struct {
	list []call
	size int // of all arguments, in bytes
	cut  Cut
}

// call is one call as far as it came.
type call struct {
	id, function string
	arguments    []byte
	tooLong      bool
}

// Cut says what of a step's tool calls was more than is kept.
type Cut struct {
	// Pieces is how many pieces belonged to calls after the 256th, which are left out.
	Pieces int
	// TooLong is how many calls lost their arguments, because those of the step came to more than
	// 16 MiB.
	TooLong int
}

// add takes one piece.
func (c *calls) add(piece *wire.CallDelta) {
	if piece.Index < 0 || piece.Index >= maxCalls {
		c.cut.Pieces++
		return
	}
	for len(c.list) <= piece.Index {
		c.list = append(c.list, call{})
	}
	one := &c.list[piece.Index]
	if one.id == "" {
		one.id = piece.ID
	}
	if one.function == "" {
		one.function = piece.Function
	}
	switch {
	case one.tooLong:
	case len(piece.Arguments) > maxArguments-c.size:
		one.tooLong = true
		c.size -= len(one.arguments)
		one.arguments = nil
		c.cut.TooLong++
	default:
		one.arguments = append(one.arguments, piece.Arguments...)
		c.size += len(piece.Arguments)
	}
}

// tooLongNote stands in place of arguments that were too long. It is no JSON, so that nobody takes it
// for arguments: what was left of them could look whole.
const tooLongNote = "(the arguments were left out: a step's tool calls may have 16 MiB of them together)"

// whole returns the calls in the order of their indexes. Those without an id, or with that of an
// earlier call, get one made of the step and the index.
func (c *calls) whole(step int) []wire.ToolCall {
	var list []wire.ToolCall
	given := map[string]bool{}
	for i := range c.list {
		one := &c.list[i] // all empty for an index that was skipped
		if one.id == "" && one.function == "" && len(one.arguments) == 0 && !one.tooLong {
			continue
		}
		made := wire.ToolCall{ID: validText(one.id), Function: validText(one.function), Arguments: validText(string(one.arguments))}
		if one.tooLong {
			made.Arguments = tooLongNote
		}
		for n := i; made.ID == "" || given[made.ID]; n += maxCalls {
			made.ID = "call_" + strconv.Itoa(step) + "_" + strconv.Itoa(n)
		}
		given[made.ID] = true
		list = append(list, made)
	}
	return list
}

func validText(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
