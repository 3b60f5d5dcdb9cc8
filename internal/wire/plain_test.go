package wire

import (
	"strings"
	"testing"
)

func TestPlainText(t *testing.T) {
	for _, text := range []string{"", "plain", "a\"b\\c\n\t\r\b\f/", "é😀\u2028\u0085\x00\x7f", strings.Repeat("\\n", 9), "\ufffd"} {
		for _, ascii := range []bool{false, true} {
			if got := PlainText(AppendText(nil, text, ascii)); got != text {
				t.Errorf("%q: got %q (ascii %v)", text, got, ascii)
			}
		}
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add("a\"\\\n\u2028é😀", true)
	f.Add("\\u0041\\", false)
	f.Fuzz(func(t *testing.T, text string, ascii bool) {
		if want := strings.ToValidUTF8(text, "\ufffd"); len(want) == len(text) && PlainText(AppendText(nil, text, ascii)) != text {
			t.Errorf("%q: got %q", text, PlainText(AppendText(nil, text, ascii)))
		}
	})
}
