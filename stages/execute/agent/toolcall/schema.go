package toolcall

import (
	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

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
