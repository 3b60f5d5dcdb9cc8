package llama

import (
	"bytes"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// template is what two chunks of one stream have in common: llama-server renders them alike but for
// the text and, once a second, the member created. A chunk that begins and ends like the last one
// that was parsed in full, with a valid JSON string in between, means the same but for that string,
// so it needs no parsing. Any difference falls back to the full parse, which learns anew. The fuzz
// target FuzzChunk compares the two.
type template struct {
	// prefix ends with the text's opening quote, suffix begins with its closing one.
	prefix, suffix []byte
	kind           wire.TokenKind
	// head and tail are prefix and suffix with what makes them an event of a stream around them: one
	// data line and an empty one. head is empty where they can't be one line.
	head, tail []byte
}

// learn keeps what surrounds the text in data.
func (t *template) learn(data []byte, kind wire.TokenKind, text gjson.Result) {
	from := text.Index
	to := from + len(text.Raw)
	if from <= 0 || to > len(data) || string(data[from:to]) != text.Raw {
		t.prefix, t.head = t.prefix[:0], t.head[:0]
		return
	}
	t.prefix = append(t.prefix[:0], data[:from+1]...)
	t.suffix = append(t.suffix[:0], data[to-1:]...)
	t.kind = kind
	t.learnFrame()
}

const (
	frameHead = "data: "
	frameTail = "\n\n"
)

func (t *template) learnFrame() {
	t.head, t.tail = t.head[:0], t.tail[:0]
	if bytes.ContainsAny(t.prefix, "\r\n") || bytes.ContainsAny(t.suffix, "\r\n") {
		return // the data of several lines
	}
	t.head = append(append(t.head, frameHead...), t.prefix...)
	t.tail = append(append(t.tail, t.suffix...), frameTail...)
}

// frame reads a whole event at the start of p whose chunk is like the learned one and whose text is
// plain. It returns the text and the length of the event, 0 when p begins with anything else.
func (t *template) frame(p []byte) (text []byte, length int) {
	if len(t.head) == 0 || !bytes.HasPrefix(p, t.head) {
		return nil, 0
	}
	text = p[len(t.head):]
	text = text[:wire.PlainLen(text)]
	length = len(t.head) + len(text)
	if !bytes.HasPrefix(p[length:], t.tail) {
		return nil, 0
	}
	return text, length + len(t.tail)
}

// match returns the text of a chunk that is like the learned one, aliasing data.
func (t *template) match(data []byte) (raw []byte, plain, ok bool) {
	if len(t.prefix) == 0 || len(data) < len(t.prefix)+len(t.suffix) {
		return nil, false, false
	}
	if !bytes.HasPrefix(data, t.prefix) || !bytes.HasSuffix(data, t.suffix) {
		return nil, false, false
	}
	raw = data[len(t.prefix) : len(data)-len(t.suffix)]
	if wire.IsPlain(raw) {
		return raw, true, true
	}
	return raw, false, insideString(raw)
}

// insideString reports whether raw may stand between the quotes of a JSON string (RFC 8259, section
// 7); its UTF-8 is not looked at.
func insideString(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case b < 0x20 || b == '"':
			return false
		case b == '\\':
			n := escapeLength(raw[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// escapeLength returns the length of the escape at the start of raw, 0 when it is none.
func escapeLength(raw []byte) int {
	if len(raw) < 2 {
		return 0
	}
	switch raw[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(raw) >= 6 && isHex(raw[2]) && isHex(raw[3]) && isHex(raw[4]) && isHex(raw[5]) {
			return 6
		}
	}
	return 0
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }
