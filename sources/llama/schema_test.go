package llama

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// schemas are schemas and what a real llama-server (build 80fb11a) takes of them.
var schemas = map[string]string{
	``: emptySchema, `true`: emptySchema, `[]`: emptySchema, `{"a":1e999}`: emptySchema,
	`{}`: `{}`,
	` { "type" : "object" , "additionalProperties":false } `:                         `{"type":"object","additionalProperties":false}`,
	`{"properties":{"a":true,"b":false,"c":"string","d":{"description":"x"}}}`:       `{"properties":{"a":{},"b":{},"c":{},"d":{"description":"x"}}}`,
	`{"properties":[],"type":"object"}`:                                              `{"type":"object"}`,
	`{"properties":{"type":{"type":"string"},"items":{"type":"number"},"é\n":true}}`: `{"properties":{"type":{"type":"string"},"items":{"type":"number"},"é\n":{}}}`,
	`{"type":"file"}`:            `{}`,
	`{"type":["string","null"]}`: `{"type":["string","null"]}`,
	`{"type":["string","file"]}`: `{}`,
	`{"type":[],"title":"x"}`:    `{"title":"x"}`,
	`{"type":5}`:                 `{}`,
	`{"type":[["string"]]}`:      `{}`,
	`{"anyOf":[true,{"type":"string"}],"oneOf":[],"allOf":5}`: `{"anyOf":[{},{"type":"string"}]}`,
	`{"items":true}`: `{"items":{}}`,
	`{"items":[true],"prefixItems":[{"type":"any"}]}`:                                `{"items":[{}],"prefixItems":[{}]}`,
	`{"additionalProperties":{"type":"x"}}`:                                          `{"additionalProperties":{}}`,
	`{"additionalProperties":"x"}`:                                                   `{}`,
	`{"enum":[],"required":"x"}`:                                                     `{}`,
	`{"enum":[null],"required":["x"],"const":null}`:                                  `{"enum":[null],"required":["x"],"const":null}`,
	`{"pattern":5,"format":null}`:                                                    `{}`,
	`{"pattern":"^a$","format":"uri"}`:                                               `{"pattern":"^a$","format":"uri"}`,
	`{"minimum":"1","maximum":1e300,"exclusiveMinimum":true,"exclusiveMaximum":2.5}`: `{"exclusiveMaximum":2.5}`,
	`{"minLength":5000,"minItems":3000,"maxLength":"5","maxItems":-1}`:               `{}`,
	`{"minLength":1,"minItems":0,"maxLength":100000,"maxItems":5}`:                   `{"minLength":1,"minItems":0,"maxLength":100000,"maxItems":5}`,
	`{"$ref":"#"}`: `{}`, `{"$ref":5}`: `{}`, `{"$ref":"http://example.org/x"}`: `{}`, `{"$ref":"#/$defs/X"}`: `{}`,
	`{"properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":true}}`:                                               `{"properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":{}}}`,
	`{"properties":{"a":{"$ref":"#/properties/a"}}}`:                                                             `{"properties":{"a":{}}}`,
	`{"properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":{"$ref":"#/$defs/Y"},"Y":{"type":"string"}}}`:         `{"properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":{"$ref":"#/$defs/Y"},"Y":{"type":"string"}}}`,
	`{"properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":{"$ref":"#/$defs/Y"},"Y":{"$ref":"#/$defs/X"}}}`:      `{"properties":{"a":{}},"$defs":{"X":{},"Y":{}}}`,
	`{"properties":{"a":{"$ref":"#/$defs/a.b"}},"$defs":{"a.b":{"properties":{"next":{"$ref":"#/$defs/a.b"}}}}}`: `{"properties":{"a":{"$ref":"#/$defs/a.b"}},"$defs":{"a.b":{"properties":{"next":{"$ref":"#/$defs/a.b"}}}}}`,
	`{"definitions":{"X":{"type":"x"}},"patternProperties":{"x":true},"not":{"type":"x"}}`:                       `{"definitions":{"X":{}},"patternProperties":{"x":{}},"not":{"type":"x"}}`,
}

func TestSchemas(t *testing.T) {
	for schema, want := range schemas {
		if got := string(appendSchema(nil, schema)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", schema, got, want)
		}
	}
}

// FuzzSchema fits any schema: what comes out is an object, and fits already.
func FuzzSchema(f *testing.F) {
	for schema := range schemas {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		fitted := string(appendSchema(nil, schema))
		if !json.Valid([]byte(fitted)) || !gjson.Parse(fitted).IsObject() {
			t.Fatalf("%q became %s", schema, fitted)
		}
		if again := string(appendSchema(nil, fitted)); strings.Count(fitted, "$ref") == 0 && again != fitted {
			t.Fatalf("%q became %s, then %s", schema, fitted, again)
		}
	})
}

func BenchmarkSchema(b *testing.B) {
	schema := `{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("Where to look. ", 20) + `"},` +
		`"depth":{"type":"integer","minimum":0},"kinds":{"type":"array","items":{"enum":["file","folder"]}}},"required":["path"],"additionalProperties":false}`
	var dst []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(schema)))
	for b.Loop() {
		dst = appendSchema(dst[:0], schema)
	}
}
