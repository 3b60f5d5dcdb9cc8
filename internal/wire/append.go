package wire

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// plain marks the bytes that stand for themselves inside a JSON string in every mode: printable
// ASCII but the quote and the backslash.
var plain = func() (t [256]bool) {
	for b := 0x20; b < 0x7f; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// plainPrefix returns how many leading bytes of s stand for themselves.
func plainPrefix[T string | []byte](s T) int {
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return i
		}
	}
	return len(s)
}

// PlainLen returns how many bytes at the start of s are plain, as IsPlain means it.
func PlainLen(s []byte) int { return plainPrefix(s) }

// IsPlain reports whether s is printable ASCII without quote and backslash, so that it may be copied
// into a JSON string, and out of one, as it is.
func IsPlain(s []byte) bool { return plainPrefix(s) == len(s) }

// AppendString appends s as a quoted JSON string. Invalid UTF-8 becomes U+FFFD; with ascii
// everything outside ASCII is escaped.
func AppendString[T string | []byte](dst []byte, s T, ascii bool) []byte {
	dst = append(dst, '"')
	dst = AppendText(dst, s, ascii)
	return append(dst, '"')
}

// AppendText appends s escaped for the inside of a JSON string, without the quotes. Control
// characters (C0, DEL, C1 with U+0085), U+2028 and U+2029 are escaped: hosts split lines on them.
func AppendText[T string | []byte](dst []byte, s T, ascii bool) []byte {
	for len(s) > 0 {
		if n := plainPrefix(s); n > 0 {
			dst = append(dst, s[:n]...)
			s = s[n:]
			continue
		}
		r, size := decodeRune(s)
		dst = appendRune(dst, r, ascii)
		s = s[size:]
	}
	return dst
}

func decodeRune[T string | []byte](s T) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	var b [utf8.UTFMax]byte
	n := copy(b[:], s)
	return utf8.DecodeRune(b[:n])
}

// appendRune appends one character as it may stand inside a JSON string of ours.
func appendRune(dst []byte, r rune, ascii bool) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < 0x20:
		return appendControl(dst, r)
	case r < 0x7f:
		return append(dst, byte(r))
	case r < 0xa0 || r == 0x2028 || r == 0x2029:
		return appendUnit(dst, r)
	case !ascii:
		return utf8.AppendRune(dst, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendUnit(appendUnit(dst, high), low)
	}
	return appendUnit(dst, r)
}

func appendControl(dst []byte, r rune) []byte {
	switch r {
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return appendUnit(dst, r)
}

// appendUnit appends one UTF-16 code unit as \uXXXX.
func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// AppendInt appends a decimal number.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }
