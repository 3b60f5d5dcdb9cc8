package sse

import (
	"slices"
	"testing"
)

func FuzzSSE(f *testing.F) {
	f.Add([]byte(tricky), uint16(7), uint16(40), true)
	f.Add([]byte("data: a\r\n\r\nda"), uint16(9), uint16(10), true)
	f.Add([]byte("\xef\xbb\xbfdata\r\r"), uint16(1), uint16(2), false)
	f.Fuzz(func(t *testing.T, stream []byte, first, second uint16, keep bool) {
		want := reference(string(stream), keep)
		options := Options{KeepUnfinished: keep}
		a := min(int(first), len(stream))
		b := min(max(a, int(second)), len(stream))
		s := string(stream)
		got, err := decode(options, s[:a], s[a:b], s[b:])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q cut at %d and %d: got %q, %v; want %q", s, a, b, got, err, want)
		}
		got, err = decode(options, bytewise(s)...)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q byte by byte: got %q, %v; want %q", s, got, err, want)
		}
	})
}
