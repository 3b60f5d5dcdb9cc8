package tools

import (
	"strings"

	"github.com/tidwall/gjson"
)

// value is a value within a JSON text, which is valid: where it stands, and its own text. gjson's own
// walk isn't used, because it makes a copy of every text on its way, and results are long texts.
type value struct {
	at  int
	raw string
}

// valueOf returns the value that a text is.
func valueOf(text string) value {
	at := skipBetween(text, 0)
	return value{at, text[at:skip(text, at)]}
}

// kind is the first byte, which tells the type.
func (v value) kind() byte {
	if v.raw == "" {
		return 0
	}
	return v.raw[0]
}

func (v value) isNull() bool { return v.kind() == 'n' }

// text returns what a text says; of other values nothing.
func (v value) text() string {
	if v.kind() != '"' || len(v.raw) < 2 {
		return ""
	}
	if strings.IndexByte(v.raw, '\\') < 0 {
		return v.raw[1 : len(v.raw)-1]
	}
	return gjson.Parse(v.raw).Str
}

// each visits the members of an object, or the values of a list, which have no name, until visit
// returns false.
func (v value) each(visit func(name string, member value) bool) {
	named := v.kind() == '{'
	if !named && v.kind() != '[' {
		return
	}
	for end := 1; ; {
		from, name := skipBetween(v.raw, end), ""
		if named {
			end = skip(v.raw, from)
			name = value{0, v.raw[from:end]}.text()
			from = skipBetween(v.raw, end)
		}
		if end = skip(v.raw, from); end == from || !visit(name, value{v.at + from, v.raw[from:end]}) {
			return
		}
	}
}

// skipBetween returns where the next value or the end begins.
func skipBetween(text string, from int) int {
	for from < len(text) && strings.IndexByte(" \t\r\n,:", text[from]) >= 0 {
		from++
	}
	return from
}

// skip returns the end of the value at from; from where there is none.
func skip(text string, from int) int {
	depth := 0
	for i := from; i < len(text); {
		switch text[i] {
		case '"':
			i = skipText(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		default:
			if depth == 0 {
				return skipLiteral(text, i)
			}
			i++
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}

func skipLiteral(text string, from int) int {
	if length := strings.IndexAny(text[from:], ",:]}[{\" \t\r\n"); length >= 0 {
		return from + length
	}
	return len(text)
}

// skipText returns the end of the text whose quotation mark stands at from.
func skipText(text string, from int) int {
	for i := from + 1; ; i++ {
		next := strings.IndexByte(text[i:], '"')
		if next < 0 {
			return len(text)
		}
		i += next
		first := i // of the backslashes before the quotation mark
		for first > from+1 && text[first-1] == '\\' {
			first--
		}
		if (i-first)%2 == 0 {
			return i + 1
		}
	}
}
