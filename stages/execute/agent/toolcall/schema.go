package toolcall

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// maxParameters bounds the <parameter=…> of one call: the schema is looked at for each.
const maxParameters = 256

// typer tells the types of parameters that were written without JSON's quotes.
type typer struct{ tools []wire.Tool }

// of returns the type of a tool's parameter when its schema names exactly one, else nothing.
func (t typer) of(function, parameter string) (kind string) {
	m := resolve(function, t.tools)
	if m.tool == nil {
		return ""
	}
	gjson.Get(m.tool.Schema, "properties").ForEach(func(key, value gjson.Result) bool {
		if key.String() != parameter {
			return true
		}
		if of := value.Get("type"); of.Type == gjson.String {
			kind = of.String()
		}
		return false
	})
	return kind
}

// parameters reads <parameter=name>value</parameter>…, as Qwen3-Coder writes arguments. A line break
// at the beginning and one at the end belong to the markup.
func (s *scanner) parameters(b *block, name string, i int) {
	out := []byte{'{'}
	for count := 0; strings.HasPrefix(s.text[i:], "<parameter="); count++ {
		parameter, behind, ok := s.nameBefore(i + len("<parameter="))
		end := s.closer("</parameter>", max(behind, i))
		if count == maxParameters {
			b.fault = &fault{what: "the call has too many parameters"}
			return
		}
		if !ok || end == len(s.text) {
			b.fault = &fault{what: "a <parameter=name> is not closed", near: excerpt(s.text[i:])}
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(wire.AppendString(out, strings.TrimSpace(parameter), false), ':')
		value := strings.TrimSuffix(strings.TrimPrefix(s.text[behind:end], "\n"), "\n")
		if out, b.fault = s.types.append(out, name, strings.TrimSpace(parameter), value); b.fault != nil {
			return
		}
		i = skipSpace(s.text, end+len("</parameter>"))
	}
	args, fixes, f := readArguments(string(append(out, '}')), false)
	s.fixes |= fixes
	b.drafts, b.fault, b.end = append(b.drafts, draft{name: name, args: args}), f, i
}

// append appends the value of a parameter as JSON. Where the schema doesn't say that it is a text, what
// reads as JSON of another type has two readings.
func (t typer) append(out []byte, function, parameter, value string) ([]byte, *fault) {
	kind := t.of(function, parameter)
	if kind == "string" {
		return wire.AppendString(out, value, false), nil
	}
	r := reader{in: value, cut: true}
	isJSON := r.value() && skipSpace(value, r.pos) == len(value)
	switch {
	case isJSON && r.out[0] != '"' && kind != "":
		return append(out, r.out...), nil
	case kind != "":
		return out, &fault{what: "the parameter " + excerpt(parameter) + " is not of the type " + excerpt(kind), near: excerpt(value)}
	case isJSON:
		return out, &fault{what: "the schema doesn't say whether the parameter " + excerpt(parameter) + " is a text; write the arguments as a JSON object"}
	}
	return wire.AppendString(out, value, false), nil
}
