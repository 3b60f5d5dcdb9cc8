package llama

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// emptySchema is that of a tool without arguments.
const emptySchema = `{"type":"object","properties":{}}`

// appendTools renders tools as the OpenAI API has them.
func appendTools(dst []byte, tools []wire.Tool) []byte {
	for i := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"type":"function","function":{"name":`...), tools[i].Function, false)
		dst = wire.AppendString(append(dst, `,"description":`...), tools[i].Description, false)
		dst = append(appendSchema(append(dst, `,"parameters":`...), tools[i].Schema), `}}`...)
	}
	return dst
}

// appendCalls renders the calls of an assistant's message.
func appendCalls(dst []byte, calls []wire.ToolCall) []byte {
	for i := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"id":`...), calls[i].ID, false)
		dst = wire.AppendString(append(dst, `,"type":"function","function":{"name":`...), calls[i].Function, false)
		dst = wire.AppendString(append(dst, `,"arguments":`...), readableArguments(calls[i].Arguments), false)
		dst = append(dst, `}}`...)
	}
	return dst
}

// readableArguments returns arguments that llama-server takes: it parses them, and answers HTTP 500 to
// the whole request when they are no JSON; templates expect an object. What a model wrote wrongly
// stands as text in an object, so that the model sees it.
func readableArguments(arguments string) string {
	switch {
	case readableObject(arguments):
		return arguments
	case strings.TrimSpace(arguments) == "":
		return "{}"
	}
	return string(append(wire.AppendString([]byte(`{"malformed_arguments":`), arguments, false), '}'))
}

// readableObject reports whether text is a JSON object that llama-server's parser (nlohmann/json)
// takes. Beyond the grammar it wants escaped surrogates in pairs and numbers within a double's range.
func readableObject(text string) bool {
	raw := unsafe.Slice(unsafe.StringData(text), len(text))
	if wire.TooDeep(raw) || !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		return false
	}
	for i := 0; i < len(text); {
		n, ok := 1, true
		switch b := text[i]; {
		case b == '"':
			n, ok = stringLength(text[i:])
		case b == '-' || b >= '0' && b <= '9':
			n, ok = numberLength(text[i:])
		}
		if !ok {
			return false
		}
		i += n
	}
	return true
}

// stringLength returns the length of the valid JSON string at the start of text, and whether its
// surrogates are paired.
func stringLength(text string) (n int, paired bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1, true
		case text[i] != '\\':
		case text[i+1] != 'u':
			i++
		case !isSurrogate(text[i:]):
			i += 5
		case !isSurrogatePair(text[i:]):
			return 0, false
		default:
			i += 11
		}
	}
	return len(text), true
}

// isSurrogate reports whether valid text begins with an escape of U+D800 to U+DFFF.
func isSurrogate(text string) bool {
	return len(text) >= 6 && text[:2] == `\u` && text[2]|0x20 == 'd' && text[3] >= '8'
}

// isSurrogatePair reports whether text, which begins with a surrogate, begins with a pair of them.
func isSurrogatePair(text string) bool {
	low := func(escape string) bool { return escape[3]|0x20 >= 'c' }
	return isSurrogate(text[6:]) && !low(text) && low(text[6:])
}

// numberLength returns the length of the valid JSON number at the start of text, and whether a double
// holds it.
func numberLength(text string) (n int, finite bool) {
	for n < len(text) && strings.IndexByte("+-.0123456789eE", text[n]) >= 0 {
		n++
	}
	_, err := strconv.ParseFloat(text[:n], 64)
	return n, err == nil
}
