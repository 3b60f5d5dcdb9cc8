package wire

import (
	"encoding/json"
	"testing"
)

func TestAppendID(t *testing.T) {
	cases := []struct {
		id          ID
		want, ascii string
	}{
		{"", `null`, `null`},
		{`null`, `null`, `null`},
		{`7`, `7`, `7`},
		{`9007199254740993`, `9007199254740993`, `9007199254740993`},
		{`1.0`, `1.0`, `1.0`},
		{`-1.5E+3`, `-1.5E+3`, `-1.5E+3`},
		{`"a"`, `"a"`, `"a"`},
		{`"\u00e9\/\""`, `"\u00e9\/\""`, `"\u00e9\/\""`},
		{`"\uD83C\uDF89"`, `"\uD83C\uDF89"`, `"\uD83C\uDF89"`},
		{`"é中🎉"`, `"é中🎉"`, `"\u00e9\u4e2d\ud83c\udf89"`},
		{"\"\u0085\u2028\u2029\"", `"\u0085\u2028\u2029"`, `"\u0085\u2028\u2029"`},
		{"\"é\u2028é\"", "\"é\\u2028é\"", `"\u00e9\u2028\u00e9"`},
	}
	for _, c := range cases {
		if got := string(AppendID([]byte("x"), c.id, false)); got != "x"+c.want {
			t.Errorf("%s: got %s", c.id, got)
		}
		if got := string(AppendID([]byte("x"), c.id, true)); got != "x"+c.ascii {
			t.Errorf("%s with ascii: got %s", c.id, got)
		}
	}
}

// FuzzAppendID wants the same value back, and the same bytes where nothing forbids them.
func FuzzAppendID(f *testing.F) {
	for _, id := range []string{`7`, `1.0`, `"\u00e9"`, `"é"`, "\"\u2028\u0085é\""} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if !json.Valid([]byte(id)) || !isIDText(id) || wellFormed(id) != id {
			return
		}
		for _, ascii := range []bool{false, true} {
			got := AppendID(nil, ID(id), ascii)
			if !sameJSON(t, id, string(got)) {
				t.Errorf("%q, ascii %v: got %q, another value", id, ascii, got)
			}
			if unescaped([]byte(id), ascii) == "" && string(got) != id {
				t.Errorf("%q, ascii %v: got %q, other bytes", id, ascii, got)
			}
		}
	})
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	if a[0] != '"' {
		return a == b
	}
	var x, y string
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%q: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("%q: %v", b, err)
	}
	return x == y
}

// isIDText reports whether JSON text is a string or a number.
func isIDText(text string) bool {
	return text != "" && (text[0] == '"' || text[0] == '-' || text[0] >= '0' && text[0] <= '9')
}
