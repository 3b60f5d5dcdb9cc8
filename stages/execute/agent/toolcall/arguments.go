package toolcall

import (
	"strings"

	"github.com/tidwall/gjson"
)

// maxEncoded is how often arguments may have been encoded as a string.
const maxEncoded = 2

// readArguments makes a JSON object in normal form of the arguments of a call as a model wrote them.
func readArguments(text string, cut bool) (args string, fixes fix, f *fault) {
	for level := 0; ; level++ {
		text = strings.TrimSpace(text)
		if text == "" || text == "null" || text == "None" {
			if cut && level == 0 {
				return "", fixes, &fault{what: "the answer was cut off before the arguments"}
			}
			return "{}", fixes | fixEmpty, nil
		}
		r := reader{in: text, cut: cut && level == 0}
		end, ok := r.fenced()
		if ok && skipSpace(text, end) < len(text) {
			r.pos = skipSpace(text, end)
			ok = r.fail("more text stands behind the JSON")
		}
		fixes |= r.fixes
		switch {
		case !ok:
			return "", fixes, r.fault
		case r.out[0] == '{':
			return string(r.out), fixes, nil
		case r.out[0] != '"' || level == maxEncoded:
			return "", fixes, &fault{what: "the arguments are not a JSON object", near: excerpt(text)}
		}
		text = gjson.ParseBytes(r.out).String()
		fixes |= fixEncoded
	}
}

// fenced reads a value that a code fence may surround and that may have too many closing brackets
// behind it. end is where what belongs to it ends.
func (r *reader) fenced() (end int, ok bool) {
	r.pos = skipSpace(r.in, r.pos)
	fence := strings.HasPrefix(r.in[r.pos:], "```")
	if fence {
		r.pos += 3
		r.pos += len(identifier(r.in[r.pos:]))
		r.fixes |= fixFence
	}
	if !r.value() {
		return r.pos, false
	}
	r.extraClosers()
	if i := skipSpace(r.in, r.pos); fence && strings.HasPrefix(r.in[i:], "```") {
		return i + 3, true
	}
	return r.pos, true
}

// extraClosers skips closing brackets behind an object or array.
func (r *reader) extraClosers() {
	last := r.out[len(r.out)-1]
	if last != '}' && last != ']' {
		return
	}
	for {
		i := skipSpace(r.in, r.pos)
		if i == len(r.in) || r.in[i] != '}' && r.in[i] != ']' {
			return
		}
		r.pos = i + 1
		r.fixes |= fixExtraClosers
	}
}
