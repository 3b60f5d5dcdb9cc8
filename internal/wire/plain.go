package wire

import (
	"bytes"
	"unsafe"

	"github.com/tidwall/gjson"
)

// PlainText returns the text that stands escaped inside a JSON string, as AppendText writes it. It may
// alias escaped, which must not be changed any more: the text of a long answer is megabytes.
func PlainText(escaped []byte) string {
	if bytes.IndexByte(escaped, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(escaped), len(escaped))
	}
	quoted := make([]byte, 0, len(escaped)+2)
	quoted = append(append(append(quoted, '"'), escaped...), '"')
	return gjson.ParseBytes(quoted).Str
}
