package toolcall

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// unclosed is the fault of a text that goes on to the end.
const unclosed = "a text is not closed by its quote"

// text reads a text in double or single quotes.
func (r *reader) text() bool {
	quote := r.in[r.pos]
	if quote == '\'' {
		r.fixes |= fixQuotes
	}
	for i := r.pos + 1; i < len(r.in); i++ {
		switch c := r.in[i]; {
		case c == quote:
			r.out = append(r.out, '"')
			r.out, _, _ = wire.Reescape(r.out, []byte(r.in[r.pos+1:i]), false, true)
			r.out = append(r.out, '"')
			r.pos = i + 1
			return true
		case c == '\\':
			size := r.escape(i)
			if size == 0 {
				return false
			}
			i += size - 1
		case c < ' ':
			r.fixes |= fixControl
		}
	}
	return r.fail(unclosed)
}

// escape returns the length of the escape at i, 0 when JSON has none such.
func (r *reader) escape(i int) int {
	rest := r.in[i:]
	switch {
	case len(rest) < 2:
	case rest[1] == 'u':
		if len(rest) >= 6 && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]) && isHex(rest[5]) {
			return 6
		}
	case rest[1] == '\'':
		r.fixes |= fixEscape
		return 2
	case strings.IndexByte(`"\/bfnrt`, rest[1]) >= 0:
		return 2
	}
	r.pos = i
	r.fail(`\ begins no escape that JSON knows; a backslash itself is written \\`)
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// number copies a JSON number as it was written.
func (r *reader) number() bool {
	end := r.pos
	for end < len(r.in) && (isWord(r.in[end]) || strings.IndexByte("+-.", r.in[end]) >= 0) {
		end++
	}
	number := r.in[r.pos:end]
	if !gjson.Valid(number) {
		return r.fail("%s is no JSON number", excerpt(number))
	}
	r.out = append(r.out, number...)
	r.pos = end
	return true
}

// word reads a literal, also Python's.
func (r *reader) word() bool {
	word := identifier(r.in[r.pos:])
	switch word {
	case "true", "false", "null":
		r.out = append(r.out, word...)
	case "True", "False":
		r.fixes |= fixLiterals
		r.out = append(r.out, strings.ToLower(word)...)
	case "None":
		r.fixes |= fixLiterals
		r.out = append(r.out, "null"...)
	default:
		return r.fail("a value is missing, or a text without quotes")
	}
	r.pos += len(word)
	return true
}

// blank skips blanks and comments.
func (r *reader) blank() {
	for r.pos < len(r.in) {
		rest := r.in[r.pos:]
		size := 0
		switch {
		case isSpace(rest[0]):
			r.pos++
			continue
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			size = lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			size = strings.Index(rest, "*/") + 2
			if size < 4 {
				return
			}
		default:
			return
		}
		r.pos += size
		r.fixes |= fixComments
	}
}

// lineEnd returns where the first line of text ends.
func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isWord reports whether c may stand in a name without quotes.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// identifier returns the name without quotes at the start of text; it has no digit first.
func identifier(text string) string {
	end := 0
	for end < len(text) && (isWord(text[end]) || end > 0 && text[end] == '-') {
		end++
	}
	if end > 0 && text[0] >= '0' && text[0] <= '9' {
		return ""
	}
	return text[:end]
}

// skipSpace returns the first place at or after i that is no blank.
func skipSpace(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}
