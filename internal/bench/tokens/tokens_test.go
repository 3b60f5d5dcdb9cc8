package tokens

import (
	"encoding/json"
	"math"
	"testing"
)

func TestPlainTokensReadBack(t *testing.T) {
	text := make([]byte, PlainWidth)
	for _, sequence := range []int{0, 1, 63, 64, 4095, 4096, 262143, 262144, Limit - 1} {
		PutPlain(text, sequence)
		if got, ok := Sequence(text); !ok || got != sequence {
			t.Errorf("Sequence(%q) = %d, %v, want %d", text, got, ok, sequence)
		}
	}
}

func TestTimedTokensReadBack(t *testing.T) {
	text := make([]byte, TimedWidth)
	for _, sentAt := range []int64{0, 9, 1_234_567_890_123, math.MaxInt64} {
		PutTimed(text, 77, sentAt)
		sequence, ok := Sequence(text)
		if !ok || sequence != 77 {
			t.Errorf("Sequence(%q) = %d, %v, want 77", text, sequence, ok)
		}
		if got, ok := SentAt(text); !ok || got != sentAt {
			t.Errorf("SentAt(%q) = %d, %v, want %d", text, got, ok, sentAt)
		}
	}
}

func TestOtherTextIsNoToken(t *testing.T) {
	for _, text := range []string{"", " 000", "x0000", " 00\"0", " 00\xff0"} {
		if sequence, ok := Sequence([]byte(text)); ok {
			t.Errorf("Sequence(%q) = %d, want none", text, sequence)
		}
	}
	for _, text := range []string{" 0000", " 0000123456789012345678x"} {
		if sentAt, ok := SentAt([]byte(text)); ok {
			t.Errorf("SentAt(%q) = %d, want none", text, sentAt)
		}
	}
}

func TestTokensAreNeverEscapedInJSON(t *testing.T) {
	text := make([]byte, PlainWidth)
	for sequence := range 64 {
		PutPlain(text, sequence)
		encoded, err := json.Marshal(string(text))
		if err != nil || string(encoded) != `"`+string(text)+`"` {
			t.Errorf("json.Marshal(%q) = %s, %v", text, encoded, err)
		}
	}
}
