package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestStripper(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "tab\tand\nline — ü 漢 🙂", "tab\tand\nline — ü 漢 🙂"},
		{"control characters", "a\x00\x07\b\v\f\r\x0e\x7fb\r\nc", "ab\nc"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor", "a\x1b[2J\x1b[H\x1b[?25lb", "ab"},
		{"title, ended by BEL", "\x1b]0;title\ab", "b"},
		{"title, ended by ST", "\x1b]0;title\x1b\\b", "b"},
		{"title, ended by a C1 ST", "\x1b]0;title\u009cb", "b"},
		{"hyperlink", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "\x1bP+q544e\x1b\\b", "b"},
		{"privacy, start of string, application", "\x1b^a\x1b\\1\x1bXa\x1b\\2\x1b_a\x1b\\3", "123"},
		{"character set", "\x1b(0lqk\x1b(B", "lqk"},
		{"two-byte escapes", "\x1b7a\x1b8b\x1bcc", "abc"},
		{"C1 sequences", "\u009b31mred\u009d0;title\u009cb\u0085c", "redbc"},
		{"control character inside a sequence", "\x1b[3\r1mred", "red"},
		{"sequence that CAN ends", "\x1b[3\x18b\x1b]0;t\x1ac", "bc"},
		{"sequence in a sequence", "\x1b[3\x1b[31mred", "red"},
		{"sequence that text breaks off", "\x1b[3äb\x1bäc", "äbäc"},
		{"string that the line ends", "\x1b]lost\nkept", "\nkept"},
		{"sequence at the end", "a\x1b[3", "a"},
		{"invalid UTF-8", "a\x9b31mb", "a\uFFFD31mb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := stripped(test.text); got != test.want {
				t.Errorf("%q became %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// FuzzStripper holds the stripper to its promise: no control code gets through, text without any is
// left alone, and where the text is split makes no difference.
func FuzzStripper(f *testing.F) {
	f.Add("a\x1b[1;31mred\x1b[0m", 3)
	f.Add("\x1b]0;title\x1b\\text\u009b3m", 11)
	f.Add("\x1b(B\u009d\x1b\x1b[\nplain äöü 🙂", 2)
	f.Add("\xc2\x9b\x9b\xff\x1b", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		got := stripped(text)
		checkHarmless(t, text, got)
		cut = min(max(cut, 0), len(text))
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		var s stripper
		split := string(s.append(s.append(nil, text[:cut]), text[cut:]))
		if split != got {
			t.Errorf("%q split at %d became %q, whole %q", text, cut, split, got)
		}
	})
}

func checkHarmless(t *testing.T, text, got string) {
	t.Helper()
	controls := func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }
	if i := strings.IndexFunc(got, controls); i >= 0 {
		t.Errorf("%q became %q with a control character at %d", text, got, i)
	}
	if !strings.ContainsFunc(text, controls) && got != text {
		t.Errorf("%q has no control characters and became %q", text, got)
	}
	if strings.Count(got, "\n") != strings.Count(text, "\n") {
		t.Errorf("%q became %q with another number of lines", text, got)
	}
	if !utf8.ValidString(got) {
		t.Errorf("%q became %q, which is no UTF-8", text, got)
	}
}
