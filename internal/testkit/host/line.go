package host

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// separators are the characters beyond ASCII at which hosts split lines: U+0085, U+2028 and U+2029.
var separators = [][]byte{[]byte("\u0085"), []byte("\u2028"), []byte("\u2029")}

// checkLine returns what is wrong with a line of the engine, nil when nothing is.
func checkLine(line []byte) error {
	switch {
	case !utf8.Valid(line):
		return fmt.Errorf("not UTF-8: %.200q", line)
	case !gjson.ValidBytes(line) || line[0] != '{':
		return fmt.Errorf("no JSON object: %.200q", line)
	}
	for _, b := range line {
		if b < ' ' {
			return fmt.Errorf("a raw control character %#x: %.200q", b, line)
		}
	}
	for _, separator := range separators {
		if bytes.Contains(line, separator) {
			return fmt.Errorf("a raw line separator %q: %.200q", separator, line)
		}
	}
	return nil
}

// finals knows the requests that had their final frame, and the streams of JSON-RPC that had theirs.
type finals map[string]bool

// check returns an error for an event behind the final frame of its request, and for a second final.
func (f finals) check(m Message) error {
	id := m.Get("id").Raw
	if stream := m.Get("params.streamId").Raw; stream != "" {
		id = "stream " + stream
	}
	if id == "" || id == "null" {
		return nil
	}
	if f[id] {
		return fmt.Errorf("a frame follows the final one of %s: %.200s", id, m.Raw)
	}
	if isFinal(m) {
		f[id] = true
	}
	return nil
}

func isFinal(m Message) bool {
	kind := m.Get("type").Str
	return kind == "result" || kind == "error" || isTerminal(m) || m.Get("jsonrpc").Exists() && m.Get("id").Exists()
}
