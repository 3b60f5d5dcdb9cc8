package wire

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// PlainText returns the text that stands escaped inside a JSON string, as AppendText writes it.
func PlainText(escaped []byte) string {
	if bytes.IndexByte(escaped, '\\') < 0 {
		return string(escaped)
	}
	quoted := make([]byte, 0, len(escaped)+2)
	quoted = append(append(append(quoted, '"'), escaped...), '"')
	return gjson.ParseBytes(quoted).Str
}
