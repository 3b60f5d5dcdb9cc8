package wire

import (
	"strings"

	"github.com/tidwall/gjson"
)

// AppendObject appends text, a JSON object as somebody else wrote it, as one that may stand in a line
// of ours: without white space between its values, and with strings as Reescape makes them. Numbers
// and the order of members stay. What is no JSON object, or is nested deeper than MaxDepth, becomes {}.
func AppendObject(dst []byte, text string, ascii bool) []byte {
	text = strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(text, "{") || TooDeep([]byte(text)) || !gjson.Valid(text) {
		return append(dst, "{}"...)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			inner := text[i+1 : i+1+stringEnd(text[i+1:])]
			dst = append(dst, '"')
			dst, _, _ = Reescape(dst, []byte(inner), ascii, true)
			dst = append(dst, '"')
			i += len(inner) + 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// stringEnd returns where the string that text continues ends, of valid JSON.
func stringEnd(text string) int {
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
}
