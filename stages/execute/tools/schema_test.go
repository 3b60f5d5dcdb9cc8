package tools

import (
	"strings"
	"testing"
)

func TestSchemaCheck(t *testing.T) {
	recursive := `{"type":"object","properties":{"next":{"$ref":"#"},"n":{"type":"integer"}}}`
	defs := `{"type":"object","properties":{"p":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"type":"string"}}}`
	for name, c := range map[string]struct{ schema, args, want string }{
		"fits":                   {`{"type":"object","properties":{"a":{"enum":["x"]}}}`, `{"a":"x"}`, ""},
		"enum":                   {`{"type":"object","properties":{"a":{"enum":["x"]}}}`, `{"a":"y"}`, "enum"},
		"additional":             {`{"type":"object","additionalProperties":false}`, `{"b":1}`, "b"},
		"draft 7":                {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["a"]}`, `{}`, "a"},
		"a list in itself":       {recursive, `{"next":{"next":{"n":1}}}`, ""},
		"a wrong list in itself": {recursive, `{"next":{"next":{"n":"x"}}}`, "integer"},
		"definitions":            {defs, `{"p":5}`, "string"},
		// What follows can't be checked, or not with an end.
		"itself":        {`{"$ref":"#"}`, `{}`, ""},
		"all of itself": {`{"type":"object","allOf":[{"$ref":"#"}]}`, `{"a":1}`, ""},
		"each other":    {`{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, `{}`, ""},
		"dynamic":       {`{"type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`, `{"a":1}`, ""},
		"elsewhere":     {`{"type":"object","$ref":"https://example.com/schema"}`, `{}`, ""},
		"nowhere":       {`{"type":"object","$ref":"#/$defs/a"}`, `{}`, ""},
		"addressed":     {`{"type":"object","$ref":"https://x/a","$defs":{"b":{},"c":{"$id":"https://x/a","allOf":[{"$ref":"#/$defs/b"}],"$defs":{"b":{"$ref":"#"}}}}}`, `{}`, ""},
		"exponential":   {exponential(40), `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &schema{text: c.schema}
			err := s.check(c.args)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// exponential is a schema whose check takes 2^depth steps.
func exponential(depth int) string {
	var text strings.Builder
	text.WriteString(`{"type":"object","$ref":"#/$defs/a","$defs":{`)
	for i := range depth {
		reference := `{"$ref":"#/$defs/` + strings.Repeat("a", i+2) + `"}`
		text.WriteString(`"` + strings.Repeat("a", i+1) + `":{"allOf":[` + reference + "," + reference + "]},")
	}
	return text.String() + `"` + strings.Repeat("a", depth+1) + `":{}}}`
}

// Whatever a server calls a schema and a model arguments, checking ends and doesn't panic.
func FuzzSchema(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"$ref":"#"}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"type":["object"],"required":5}`, exponential(3),
		`{"type":"object","patternProperties":{"^a":{"minimum":1}},"dependentSchemas":{"a":{"not":{}}}}`,
		`{"$id":"x","$anchor":"y","items":[{},true],"if":{"const":null},"then":false,"unevaluatedProperties":{"$ref":"#/items"}}`,
	} {
		f.Add(text, `{"a":{"a":[1,null,"x"]},"b":1e300}`)
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		s := &schema{text: text}
		_ = s.check(args)
	})
}
