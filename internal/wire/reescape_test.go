package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// raws are insides of JSON strings as others write them.
var raws = []string{
	``, `plain`, `\" \\ \/ \b\f\n\r\t`, `\u0000\u001F\u007f\u0085\u00e9\u2028\uFFFD\uffff`, `é 中 🎉`, "\u0085 \u2028 \u2029 \x7f raw",
	`pair \ud83c\udf89 and \uD83C\uDF89`, `lone high \ud83c`, `lone high \ud83cx`, `lone low \udf89 x`, `high high \ud83c\ud83c\udf89`,
	`low high \udf89\ud83c`, `high other \ud83c\n\ud83c\u0041`, "high then UTF-8 \\ud83cé\\ud83c🎉", "invalid \xff\xfe", "half \xe2\x82",
	"half \xe2\x82 then \xf0\x9f\x8e\\n\xf0\x9f\\ud83c", "\xed\xa0\x80\xed\xb0\x80", "raw control \x01\n\t", "\xf0\x9f\x8e\x89\xf0\x9f",
}

func TestReescape(t *testing.T) {
	for _, raw := range raws {
		checkReescape(t, []byte(raw))
	}
}

func FuzzReescape(f *testing.F) {
	for _, raw := range raws {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 200 && insideOfString(raw) {
			checkReescape(t, raw)
		}
	})
}

// insideOfString reports whether raw may stand between the quotes of a JSON string, as Reescape asks:
// no raw quote, no escape cut off or unknown.
func insideOfString(raw []byte) bool {
	pieces := units(raw)
	for _, piece := range pieces {
		if piece[0] == '"' || piece[0] == '\\' && !json.Valid([]byte(`"`+string(piece)+`"`)) {
			return false
		}
	}
	return true
}

// units cuts raw where a parser's token may be cut: between bytes, but not inside an escape.
func units(raw []byte) (list [][]byte) {
	for len(raw) > 0 {
		n := 1
		if raw[0] == '\\' {
			n = min(2, len(raw))
			if n == 2 && raw[1] == 'u' {
				n = min(6, len(raw))
			}
		}
		list, raw = append(list, raw[:n]), raw[n:]
	}
	return list
}

func checkReescape(t *testing.T, raw []byte) {
	for _, ascii := range []bool{false, true} {
		whole, decodedBytes, rest := Reescape([]byte("x"), raw, ascii, true)
		whole = whole[1:]
		if len(rest) != 0 {
			t.Errorf("%q: %q is left of a final piece", raw, rest)
		}
		if fault := unescaped(whole, ascii); fault != "" {
			t.Errorf("%q, ascii %v: %s in %q", raw, ascii, fault, whole)
		}
		text := decoded(t, []byte(`"`+string(whole)+`"`))
		if want := meaning(t, raw); text != want {
			t.Errorf("%q: got %q; want %q", raw, text, want)
		}
		if decodedBytes != len(text) {
			t.Errorf("%q: counted %d bytes of %d", raw, decodedBytes, len(text))
		}
		checkSplits(t, raw, ascii, string(whole), decodedBytes)
	}
}

// meaning reads raw with encoding/json, which refuses raw control characters; for those it writes
// the escape first.
func meaning(t *testing.T, raw []byte) string {
	t.Helper()
	var escaped strings.Builder
	for _, unit := range units(raw) {
		if unit[0] < 0x20 {
			unit = appendUnit(nil, rune(unit[0]))
		}
		escaped.Write(unit)
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+escaped.String()+`"`), &text); err != nil {
		t.Errorf("encoding/json refuses %q: %v", raw, err)
	}
	return text
}

// checkSplits cuts raw at every two places, and everywhere, and wants what the whole gave.
func checkSplits(t *testing.T, raw []byte, ascii bool, want string, wantDecoded int) {
	list := units(raw)
	for i := range list {
		for j := i; j < len(list); j++ {
			got, n := reescapePieces(t, ascii, joined(list[:i]), joined(list[i:j]), joined(list[j:]))
			if string(got) != want || n != wantDecoded {
				t.Fatalf("%q cut at units %d and %d: got %q of %d bytes; want %q of %d", raw, i, j, got, n, want, wantDecoded)
			}
		}
	}
	if got, n := reescapePieces(t, ascii, list...); string(got) != want || n != wantDecoded {
		t.Errorf("%q cut everywhere: got %q of %d bytes; want %q of %d", raw, got, n, want, wantDecoded)
	}
}

// reescapePieces is what a caller does: rest goes in front of the next piece, and the end is final.
func reescapePieces(t *testing.T, ascii bool, list ...[]byte) (out []byte, decoded int) {
	t.Helper()
	var rest []byte
	for _, piece := range append(list[:len(list):len(list)], nil) {
		var n int
		before := len(out)
		out, n, rest = Reescape(out, append(rest[:len(rest):len(rest)], piece...), ascii, false)
		decoded += n
		if len(rest) > 6 {
			t.Fatalf("%d bytes are left of %q", len(rest), piece)
		}
		if !utf8.Valid(out[before:]) {
			t.Fatalf("%q gave invalid UTF-8: %q", piece, out[before:])
		}
	}
	out, n, _ := Reescape(out, rest, ascii, true)
	return out, decoded + n
}

func joined(list [][]byte) (text []byte) {
	for _, unit := range list {
		text = append(text, unit...)
	}
	return text
}

// TestReescapeOutsideItsContract has escapes that no parser lets through; they must not panic.
func TestReescapeOutsideItsContract(t *testing.T) {
	for _, raw := range []string{`\`, `\u`, `\u12`, `\uzzzz`, `\ud83c\`, `\ud83c\u`, `\ud83c\u12`, `\x`, `"`} {
		out, n, _ := Reescape(nil, []byte(raw), false, true)
		if text := decoded(t, []byte(`"`+string(out)+`"`)); len(text) != n {
			t.Errorf("%q: counted %d bytes of %q", raw, n, text)
		}
	}
}
