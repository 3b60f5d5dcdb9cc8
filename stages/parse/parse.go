// Package parse turns raw lines into requests, one file per protocol. What a line gets wrong becomes
// the request's Fault; nothing here refuses to go on.
//
// Concurrency law: plain functions and one value per stdin, owned by the goroutine that reads it;
// no goroutine, channel, lock, clock or I/O. Requests borrow from the line until the batch's Push
// returns.
package parse

import (
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

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
