package llama

import (
	"strings"

	"github.com/tidwall/gjson"
)

// fitter rewrites a JSON Schema for llama-server, which makes a grammar of the schemas of all tools and
// refuses the whole request for one that it can't (HTTP 400): boolean schemas, types that don't exist,
// references that lead nowhere, and more. What it doesn't take is left out, which only allows the model
// more; the tool still checks its arguments.
type fitter struct{ root gjson.Result }

// appendSchema appends a schema, or that of no arguments when it is no readable JSON object.
func appendSchema(dst []byte, schema string) []byte {
	if !readableObject(schema) {
		return append(dst, emptySchema...)
	}
	f := fitter{gjson.Parse(schema)}
	return f.schema(dst, f.root)
}

// schema appends a schema. A boolean one, and what is none, becomes the one that allows anything.
func (f fitter) schema(dst []byte, s gjson.Result) []byte {
	if !s.IsObject() {
		return append(dst, "{}"...)
	}
	return f.object(dst, s, f.keyword)
}

// object appends an object. member appends the value of one of its members, or returns nil to leave
// the member out.
func (f fitter) object(dst []byte, object gjson.Result, member func(dst []byte, name string, value gjson.Result) []byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	object.ForEach(func(name, value gjson.Result) bool {
		kept := len(dst)
		if kept > first {
			dst = append(dst, ',')
		}
		dst = append(append(dst, name.Raw...), ':')
		if with := member(dst, name.String(), value); with != nil {
			dst = with
		} else {
			dst = dst[:kept]
		}
		return true
	})
	return append(dst, '}')
}

// keyword appends the value of a schema's keyword.
func (f fitter) keyword(dst []byte, name string, v gjson.Result) []byte {
	takes := true
	switch name {
	case "properties", "patternProperties", "$defs", "definitions":
		return f.named(dst, v)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return f.list(dst, v)
	case "items":
		if v.IsArray() {
			return f.list(dst, v)
		}
		return f.schema(dst, v)
	case "additionalProperties":
		if v.IsObject() {
			return f.schema(dst, v)
		}
		takes = v.IsBool()
	case "type":
		takes = isType(v)
	case "$ref":
		takes = f.leads(v)
	case "enum":
		takes = v.IsArray() && v.Get("0").Exists()
	case "required":
		takes = v.IsArray()
	case "pattern", "format":
		takes = v.Type == gjson.String
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		takes = v.Type == gjson.Number && v.Num > -largestBound && v.Num < largestBound
	case "minLength", "minItems":
		takes = v.Type == gjson.Number && v.Num >= 0 && v.Num <= mostRepeated
	case "maxLength", "maxItems":
		takes = v.Type == gjson.Number && v.Num >= 0 && v.Num < largestBound
	}
	if !takes {
		return nil
	}
	return append(dst, v.Raw...)
}

const (
	// largestBound is above what a bound of a number may be; llama-server reads it as an int64.
	largestBound = 1e18
	// mostRepeated is below how often llama.cpp's grammars may repeat something (2,000).
	mostRepeated = 1000
)

// named appends schemas by name.
func (f fitter) named(dst []byte, v gjson.Result) []byte {
	if !v.IsObject() {
		return nil
	}
	return f.object(dst, v, func(dst []byte, _ string, value gjson.Result) []byte { return f.schema(dst, value) })
}

// list appends a list of schemas, nil for an empty one.
func (f fitter) list(dst []byte, v gjson.Result) []byte {
	if !v.IsArray() || !v.Get("0").Exists() {
		return nil
	}
	dst = append(dst, '[')
	first := len(dst)
	v.ForEach(func(_, value gjson.Result) bool {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = f.schema(dst, value)
		return true
	})
	return append(dst, ']')
}

// isType reports whether v is a type of JSON Schema, or a list of them.
func isType(v gjson.Result) bool {
	if v.IsArray() {
		list := v.Array()
		for _, one := range list {
			if one.IsArray() || !isType(one) {
				return false
			}
		}
		return len(list) > 0
	}
	switch v.Str {
	case "object", "array", "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

// longestChain is how many references may follow on each other.
const longestChain = 16

// leads reports whether a reference leads to a schema in the same document, as llama-server follows it:
// it takes the parts of the pointer as they are.
func (f fitter) leads(ref gjson.Result) bool {
	for range longestChain {
		pointer, ok := strings.CutPrefix(ref.Str, "#/")
		if !ok {
			return false
		}
		target := f.root
		for part := range strings.SplitSeq(pointer, "/") {
			target = memberOf(target, part)
		}
		if !target.IsObject() && !target.IsBool() {
			return false
		}
		if ref = memberOf(target, "$ref"); !ref.Exists() {
			return true
		}
	}
	return false
}

// memberOf returns an object's member by its name as it is, which gjson's paths would read otherwise.
func memberOf(object gjson.Result, name string) (found gjson.Result) {
	if !object.IsObject() {
		return found
	}
	object.ForEach(func(key, value gjson.Result) bool {
		if key.String() == name {
			found = value
		}
		return !found.Exists()
	})
	return found
}
