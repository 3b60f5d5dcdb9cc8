package tools

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/tidwall/gjson"
)

func TestValueText(t *testing.T) {
	for raw, want := range map[string]string{`"a"`: "a", `""`: "", `"`: "", `"a\"\\"`: `a"\`, `"\u0061"`: "a", `5`: "", ``: "", `["a"]`: ""} {
		if got := (value{0, raw}).text(); got != want {
			t.Errorf("%s: got %q", raw, got)
		}
	}
}

// Of valid JSON every member and value is found where it stands, as gjson finds it.
func FuzzValue(f *testing.F) {
	for _, text := range []string{
		``, ` `, `5`, `null`, `"a\\"`, ` {"a" : 5 ,"b\"\\":[1,[2,{"c":"]}"}], true,"x\\\"y"],"":{},"a":null} `, `[[],{}, -1.5e3 ,"","\\\\"]`, `{"a`, `{"a":}`, `[}`, `[1 2]`, `"a"b`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		top := valueOf(text)
		checkValue(t, text, top)
		if !json.Valid([]byte(text)) {
			return
		}
		type found struct{ name, raw string }
		ours, theirs := map[int]found{}, map[int]found{}
		top.each(func(name string, v value) bool { ours[v.at] = found{name, v.raw}; return true })
		if parsed := gjson.Parse(text); parsed.IsObject() || parsed.IsArray() {
			parsed.ForEach(func(name, v gjson.Result) bool { theirs[v.Index] = found{name.Str, v.Raw}; return true })
		}
		if !maps.Equal(ours, theirs) {
			t.Errorf("%s: got %v, want %v", text, ours, theirs)
		}
	})
}

// checkValue looks whether a value and those within it stand where they say.
func checkValue(t *testing.T, text string, v value) {
	if text[v.at:v.at+len(v.raw)] != v.raw {
		t.Errorf("%q isn't at %d of %q", v.raw, v.at, text)
	}
	v.each(func(_ string, member value) bool { checkValue(t, text, member); return true })
}
