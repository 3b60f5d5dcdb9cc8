package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendObject(t *testing.T) {
	for _, c := range []struct{ text, want, ascii string }{
		{`{}`, `{}`, `{}`},
		{" {\n\t\"a b\" : [ 1.0 , -2e+5,true, null ],\r\n \"c\":{ } } ", `{"a b":[1.0,-2e+5,true,null],"c":{}}`, `{"a b":[1.0,-2e+5,true,null],"c":{}}`},
		{`{"a":"\u0041\/\n\"\\ \u2028"}`, `{"a":"A/\n\"\\ \u2028"}`, `{"a":"A/\n\"\\ \u2028"}`},
		{"{\"a\u2029\":\"\u0085\u2028\x7f\"}", `{"a\u2029":"\u0085\u2028\u007f"}`, `{"a\u2029":"\u0085\u2028\u007f"}`},
		{`{"é":"😀\ud83d\ude00"}`, `{"é":"😀😀"}`, `{"\u00e9":"\ud83d\ude00\ud83d\ude00"}`},
		{"{\"a\":\"\xff\\ud800\"}", `{"a":"` + "\ufffd\ufffd" + `"}`, `{"a":"\ufffd\ufffd"}`},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{``, `{}`, `{}`},
		{`null`, `{}`, `{}`},
		{`["a"]`, `{}`, `{}`},
		{`{"a":1`, `{}`, `{}`},
		{`{"a":1}}`, `{}`, `{}`},
		{`{"a":1} {}`, `{}`, `{}`},
		{`{'a':1}`, `{}`, `{}`},
		{"{\"a\":\"\n\"}", `{}`, `{}`},
		{`{"a":"\x"}`, `{}`, `{}`},
		{`{"a":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`, `{}`, `{}`},
	} {
		for ascii, want := range map[bool]string{false: c.want, true: c.ascii} {
			if got := string(AppendObject([]byte("x"), c.text, ascii)); got != "x"+want {
				t.Errorf("%q with ascii %v became %q, want %q", c.text, ascii, got[1:], want)
			}
		}
	}
}

// FuzzAppendObject: whatever comes in, what comes out is an object that may stand in a line, and means
// what came in.
func FuzzAppendObject(f *testing.F) {
	f.Add(`{"path": "a", "n": [1, 2.50, {"x": null}]}`)
	f.Add("{\"a\":\"\u0085\u2028\\u2029\xff\\ud800\\\\\"}")
	f.Add(`{"a":"\"}`)
	f.Add(`{"a":-}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, ascii := range []bool{false, true} {
			got := AppendObject(nil, text, ascii)
			if !json.Valid(got) || got[0] != '{' || !utf8.Valid(got) || bytes.ContainsAny(got, "\x7f\u0080\u0085\u2028\u2029") || bytes.ContainsFunc(got, func(r rune) bool { return r < ' ' || ascii && r > '~' }) {
				t.Fatalf("%q became %q", text, got)
			}
			var want, have map[string]any
			if json.Unmarshal([]byte(text), &want) != nil || TooDeep([]byte(text)) {
				want = map[string]any{}
			}
			if err := json.Unmarshal(got, &have); want != nil && err == nil && !reflect.DeepEqual(have, want) {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
