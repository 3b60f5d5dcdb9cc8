package main

import (
	"unicode"
	"unicode/utf8"
)

// stripper takes terminal control codes out of text, so that what a model writes can't move the
// cursor, change the title or answer for the keyboard: escape sequences as in ECMA-48 and the control
// characters C0 (but newline and tab), DEL and C1. It remembers where in a sequence it is, since one
// may be split over two deltas. A sequence ends at the latest with its line, so that a lone introducer
// doesn't hide the rest of an answer.
type stripper struct{ state stripState }

type stripState uint8

const (
	plainText          stripState = iota
	escapeSequence                // after ESC
	escapeIntermediate            // after ESC and intermediate bytes, as in ESC ( B
	controlSequence               // after CSI, until its final byte
	controlString                 // after OSC, DCS, SOS, PM or APC, until BEL or ST
)

const (
	bell              = '\a'
	cancelCharacter   = '\x18'
	substitute        = '\x1a'
	escapeCharacter   = '\x1b'
	sequenceIntroC1   = '\u009b'
	stringTerminateC1 = '\u009c'
)

// append appends what of text may be shown. Text that is no UTF-8 becomes U+FFFD.
func (s *stripper) append(dst []byte, text string) []byte {
	for _, r := range text {
		if s.keep(r) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// keep reports whether r is text, and goes on to the state behind it.
func (s *stripper) keep(r rune) bool {
	switch r {
	case '\n':
		s.state = plainText
		return true
	case escapeCharacter:
		s.state = escapeSequence
		return false
	case cancelCharacter, substitute:
		s.state = plainText
		return false
	}
	switch s.state {
	case escapeSequence, escapeIntermediate:
		return s.keepEscape(r)
	case controlSequence:
		return s.keepControl(r)
	case controlString:
		if r == bell || r == stringTerminateC1 {
			s.state = plainText
		}
		return false
	}
	return s.keepPlain(r)
}

func (s *stripper) keepPlain(r rune) bool {
	s.state = plainText
	switch r {
	case '\t':
		return true
	case sequenceIntroC1:
		s.state = controlSequence
	case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f':
		s.state = controlString
	}
	return !unicode.IsControl(r)
}

func (s *stripper) keepEscape(r rune) bool {
	first := s.state == escapeSequence
	switch {
	case first && r == '[':
		s.state = controlSequence
	case first && (r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_'):
		s.state = controlString
	case r >= ' ' && r <= '/':
		s.state = escapeIntermediate
	case r >= '0' && r <= '~':
		s.state = plainText
	default:
		return s.keepPlain(r)
	}
	return false
}

func (s *stripper) keepControl(r rune) bool {
	switch {
	case r >= '@' && r <= '~':
		s.state = plainText
	case r < '@' || r == '\x7f': // parameters, and control characters that terminals obey in between
	default:
		return s.keepPlain(r)
	}
	return false
}

// stripped returns text without control codes.
func stripped(text string) string {
	var s stripper
	return string(s.append(nil, text))
}
