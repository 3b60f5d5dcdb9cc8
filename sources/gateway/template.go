package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// template is what two frames of text of one stream have in common. A frame that begins and ends like
// the last one that was parsed in full, with a valid JSON string in between, means the same but for that
// string, so it needs no parsing. Any difference falls back to the full parse, which learns anew. The
// fuzz target FuzzStream compares the two.
type template struct {
	// prefix ends with the text's opening quote, suffix begins with its closing one.
	prefix, suffix []byte
	// line says that no line end is in either, so that the frame can be one line.
	line bool
}

// learn keeps what surrounds the content of a frame of text.
func (t *template) learn(data []byte) {
	content := gjson.Get(stringOf(data), "content")
	from, to := content.Index, content.Index+len(content.Raw)
	if content.Type != gjson.String || from <= 0 || to > len(data) || string(data[from:to]) != content.Raw {
		t.prefix = t.prefix[:0]
		return
	}
	t.prefix = append(t.prefix[:0], data[:from+1]...)
	t.suffix = append(t.suffix[:0], data[to-1:]...)
	t.line = !bytes.ContainsAny(t.prefix, "\r\n") && !bytes.ContainsAny(t.suffix, "\r\n")
}

// match returns the text of data when it is like the learned frame. It aliases data.
func (t *template) match(data []byte) (raw []byte, plain, ok bool) {
	if len(t.prefix) == 0 || !bytes.HasPrefix(data, t.prefix) {
		return nil, false, false
	}
	data = data[len(t.prefix):]
	length, plain := stringLength(data)
	if !bytes.Equal(data[length:], t.suffix) {
		return nil, false, false
	}
	return data[:length], plain, true
}

// frame reads a whole frame of the stream at the start of p that is like the learned one: one data
// line and an empty one. length is 0 when p begins with anything else. text aliases p.
func (t *template) frame(p []byte) (text []byte, plain bool, length int) {
	const field = "data:"
	if !t.line || len(t.prefix) == 0 || !bytes.HasPrefix(p, bytesOf(field)) {
		return nil, false, 0
	}
	at := len(field)
	if at < len(p) && p[at] == ' ' {
		at++
	}
	if !bytes.HasPrefix(p[at:], t.prefix) {
		return nil, false, 0
	}
	at += len(t.prefix)
	size, plain := stringLength(p[at:])
	text, at = p[at:at+size], at+size
	if !bytes.HasPrefix(p[at:], t.suffix) {
		return nil, false, 0
	}
	at += len(t.suffix)
	end := emptyLine(p[at:])
	if end == 0 {
		return nil, false, 0
	}
	return text, plain, at + end
}

// emptyLine returns the length of a line end and an empty line at the start of p, 0 when they aren't
// there.
func emptyLine(p []byte) int {
	if bytes.HasPrefix(p, bytesOf("\n\n")) {
		return 2
	}
	if bytes.HasPrefix(p, bytesOf("\r\n\r\n")) {
		return 4
	}
	return 0
}

// stringLength returns how many bytes at the start of p can stand between the quotes of a JSON string
// (RFC 8259, section 7), their UTF-8 not looked at, and whether all of them are plain.
func stringLength(p []byte) (length int, plain bool) {
	length = wire.PlainLen(p)
	plain = true
	for i := length; i < len(p); {
		switch b := p[i]; {
		case b < 0x20 || b == '"':
			return i, plain
		case b == '\\':
			n := escapeLength(p[i:])
			if n == 0 {
				return i, false
			}
			i += n
		default:
			i++
		}
		length, plain = i, false
	}
	return length, plain
}

// escapeLength returns the length of the escape at the start of p, 0 when it is none.
func escapeLength(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(p) >= 6 && isHex(p[2]) && isHex(p[3]) && isHex(p[4]) && isHex(p[5]) {
			return 6
		}
	}
	return 0
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }
