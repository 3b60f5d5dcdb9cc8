package wire

import "unicode/utf8"

// Reescape appends raw, the inside of a JSON string as somebody else wrote it, as the inside of a
// JSON string of ours: text is copied as it stands, what must not stand raw is escaped, invalid
// UTF-8 and lone surrogates become U+FFFD.
//
// It returns the grown dst, the number of bytes that the appended text has as plain UTF-8, and the
// unfinished character at the end of raw, which aliases raw: the first bytes of a UTF-8 sequence or
// the escape of a high surrogate, at most 6 bytes. The caller puts it in front of the next piece.
// With final nothing can follow, so an unfinished character becomes U+FFFD and rest is empty.
//
// raw must be free of raw quotes and its escapes complete, as every JSON parser guarantees.
func Reescape(dst, raw []byte, ascii, final bool) (out []byte, decoded int, rest []byte) {
	for len(raw) > 0 {
		if n := plainPrefix(raw); n > 0 {
			dst = append(dst, raw[:n]...)
			decoded += n
			raw = raw[n:]
			continue
		}
		r, size, whole := nextCharacter(raw)
		if !whole && !final {
			return dst, decoded, raw
		}
		dst = appendRune(dst, r, ascii)
		decoded += utf8.RuneLen(r)
		raw = raw[size:]
	}
	return dst, decoded, nil
}

// nextCharacter reads the character at the start of raw, which is not plain. whole is false when
// raw ends before the character does.
func nextCharacter(raw []byte) (r rune, size int, whole bool) {
	if raw[0] == '\\' {
		return nextEscape(raw)
	}
	if raw[0] >= utf8.RuneSelf && !utf8.FullRune(raw) {
		return utf8.RuneError, 1, false
	}
	r, size = utf8.DecodeRune(raw)
	return r, size, true
}

func nextEscape(raw []byte) (r rune, size int, whole bool) {
	if len(raw) < 2 {
		return utf8.RuneError, len(raw), true
	}
	if raw[1] != 'u' {
		return shortEscape(raw[1]), 2, true
	}
	unit, ok := unitAt(raw)
	switch {
	case !ok:
		return utf8.RuneError, 2, true
	case unit < 0xd800 || unit > 0xdfff:
		return unit, 6, true
	case unit >= 0xdc00:
		return utf8.RuneError, 6, true
	case len(raw) == 6:
		return utf8.RuneError, 6, false
	}
	low, ok := unitAt(raw[6:])
	if !ok || low < 0xdc00 || low > 0xdfff {
		return utf8.RuneError, 6, true
	}
	return 0x10000 + (unit-0xd800)<<10 + (low - 0xdc00), 12, true
}

func shortEscape(b byte) rune {
	switch b {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return rune(b)
}

// unitAt reads a \uXXXX escape at the start of raw.
func unitAt(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, b := range raw[2:6] {
		switch {
		case b >= '0' && b <= '9':
			unit = unit<<4 | rune(b-'0')
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			unit = unit<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}
