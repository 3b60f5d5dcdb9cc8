package wire

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// texts are plain texts with everything in them that a JSON string may be careful about.
var texts = []string{
	"", "plain", `quote " and \ backslash`, "\x00\x01\b\t\n\v\f\r\x1b\x1f", "del \x7f", "C1 \u0080\u0085\u009f",
	"\u00a0é", "separators \u2028 and \u2029", "<a href='x'>&amp;</a>", "中文", "emoji 👩‍🚀 🎉", "last \U0010ffff",
	"\ufffd stays", "\ufeff stays", "invalid \xff\xfe", "half \xe2\x82", "half \xe2\x82 inside", "\xf0\x9f\x92", "\xed\xa0\x80 surrogate",
	"\xc0\xaf overlong", strings.Repeat("long ", 100) + "\n",
}

// unescaped returns what of an escaped text may not stand in a line of ours.
func unescaped(escaped []byte, ascii bool) string {
	if !utf8.Valid(escaped) {
		return "invalid UTF-8"
	}
	for _, r := range string(escaped) {
		switch {
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
			return "a raw control character or separator"
		case ascii && r > 0x7f:
			return "a character beyond ASCII"
		}
	}
	return ""
}
