package wire

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
)

func TestAppendString(t *testing.T) {
	for _, text := range texts {
		checkAppendString(t, text)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(checkAppendString)
}

// checkAppendString has encoding/json and gjson as oracles: what any of us wrote, both of them read
// as the same text.
func checkAppendString(t *testing.T, text string) {
	want := wellFormed(text)
	for _, ascii := range []bool{false, true} {
		got := AppendString([]byte("x"), text, ascii)[1:]
		if fault := unescaped(got, ascii); fault != "" {
			t.Errorf("%q, ascii %v: %s in %s", text, ascii, fault, got)
		}
		if decoded := decoded(t, got); decoded != want {
			t.Errorf("%q, ascii %v: %s reads as %q; want %q", text, ascii, got, decoded, want)
		}
		if same := AppendString(nil, []byte(text), ascii); string(same) != string(got) {
			t.Errorf("%q, ascii %v: bytes give %s, a string %s", text, ascii, same, got)
		}
	}
}

// decoded reads a JSON string with both oracles.
func decoded(t *testing.T, raw []byte) string {
	t.Helper()
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Errorf("encoding/json refuses %q: %v", raw, err)
	}
	if !gjson.ValidBytes(raw) {
		t.Errorf("gjson refuses %q", raw)
	}
	if other := gjson.ParseBytes(raw).String(); other != text {
		t.Errorf("%q: gjson reads %q, encoding/json %q", raw, other, text)
	}
	return text
}

func TestIsPlain(t *testing.T) {
	for b := range 256 {
		want := b >= ' ' && b <= '~' && b != '"' && b != '\\'
		if got := IsPlain([]byte{'a', byte(b)}); got != want {
			t.Errorf("%#x: got %v", b, got)
		}
	}
	if !IsPlain(nil) {
		t.Error("the empty text is plain")
	}
}

func TestAppendScalars(t *testing.T) {
	line := AppendBool(append(AppendInt(append(AppendInt(nil, -1<<63), ' '), 1<<63-1), ' '), true)
	if got := string(AppendBool(line, false)); got != "-9223372036854775808 9223372036854775807 truefalse" {
		t.Error(got)
	}
}

func TestAppendNoAllocations(t *testing.T) {
	text := []byte("a \"token\" – 🎉 \u2028\xff")
	buffer := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() {
		buffer = AppendString(buffer[:0], text, true)
		buffer = AppendString(buffer, "a string é", false)
		buffer = AppendID(buffer, "\"é\u2028\"", true)
		buffer, _, _ = Reescape(buffer, []byte(`a 🎉 \ud83c\udf89 \n`), true, true)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// wellFormed replaces each invalid byte with U+FFFD, as encoding/json does.
func wellFormed(text string) string { return string([]rune(text)) }
