// Package parse turns raw lines into requests, one file per protocol. What a line gets wrong becomes
// the request's Fault; nothing here refuses to go on.
//
// Concurrency law: plain functions and one value per stdin, owned by the goroutine that reads it;
// no goroutine, channel, lock, clock or I/O. Requests borrow from the line until the batch's Push
// returns.
package parse

import (
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// checkLine looks at a line before it is parsed. maxLineBytes is named where it was too long.
func checkLine(line *wire.Line, maxLineBytes int) *wire.Fault {
	if line.TooLong {
		return wire.NewFault(wire.CodeInvalidRequest, fmt.Sprintf("the line is longer than %d bytes and was skipped; send less or raise input.max_line_bytes", maxLineBytes))
	}
	return check(line.Bytes)
}

// check looks at the text alone: nesting first, because gjson's validation recurses; then UTF-8,
// which gjson does not look at; then the grammar.
func check(line []byte) *wire.Fault {
	switch {
	case wire.TooDeep(line):
		return wire.NewFault(wire.CodeInvalidJSON, "the line is nested deeper than 512 levels; flatten it")
	case !utf8.Valid(line):
		return wire.NewFault(wire.CodeInvalidJSON, "the line is not valid UTF-8; encode requests as UTF-8")
	case !gjson.ValidBytes(line):
		return wire.NewFault(wire.CodeInvalidJSON, "the line is not valid JSON; send one JSON object per line")
	}
	return nil
}

// view reads b as a string without copying it; the string is valid as long as b is not changed.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// takeCall moves method and params into the request, or says what is wrong with them. example is a
// method of the protocol.
func (m *members) takeCall(r *wire.Request, example string) *wire.Fault {
	switch {
	case m.method.value.Type != gjson.String:
		return wire.NewFault(wire.CodeInvalidRequest, "method is missing or no string; name one, for instance \""+example+"\"")
	case m.params.count > 0 && !m.params.value.IsObject():
		return wire.NewFault(wire.CodeInvalidRequest, "params is no object; send {} or leave it out")
	}
	r.Name, r.RawParams = m.method.value.Str, m.params.value.Raw
	return nil
}

func standsTwice(name string) *wire.Fault {
	return wire.NewFault(wire.CodeInvalidRequest, "the member "+name+" stands twice; send it once")
}
