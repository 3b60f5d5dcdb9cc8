package sse

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRules(t *testing.T) {
	cases := []struct {
		name, stream string
		want         []record
	}{
		{"LF", "data: a\n\n", []record{{"", "a", ""}}},
		{"CRLF", "data: a\r\n\r\n", []record{{"", "a", ""}}},
		{"CR", "data: a\r\r", []record{{"", "a", ""}}},
		{"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\n", []record{{"", "a\nb\nc", ""}}},
		{"LF CR are two ends", "data: a\n\rdata: b\n\n", []record{{"", "a", ""}, {"", "b", ""}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []record{{"", "a", ""}}},
		{"second byte order mark", "\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", nil},
		{"byte order mark later", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []record{{"", "a", ""}}},
		{"start of a byte order mark", "\xef\xbbdata: a\ndata: b\n\n", []record{{"", "b", ""}}},
		{"comment", ": hello\ndata: a\n:\n\n", []record{{"", "a", ""}}},
		{"only one space is taken", "data:  a\n\n", []record{{"", " a", ""}}},
		{"no space", "data:a\n\n", []record{{"", "a", ""}}},
		{"tab stays", "data:\ta\n\n", []record{{"", "\ta", ""}}},
		{"colon in the value", "data: a: b\n\n", []record{{"", "a: b", ""}}},
		{"data without colon", "data\n\n", []record{{"", "", ""}}},
		{"two empty data lines", "data\ndata:\n\n", []record{{"", "\n", ""}}},
		{"empty data line last", "data: a\ndata\n\n", []record{{"", "a\n", ""}}},
		{"space before the name", " data: a\n\n", nil},
		{"names are case-sensitive", "Data: a\n\n", nil},
		{"unknown field", "color: red\ndata: a\n\n", []record{{"", "a", ""}}},
		{"type", "event: add\ndata: a\n\n", []record{{"add", "a", ""}}},
		{"last type counts", "event: add\nevent: del\ndata: a\n\n", []record{{"del", "a", ""}}},
		{"type emptied", "event: add\nevent\ndata: a\n\n", []record{{"", "a", ""}}},
		{"type without data is forgotten", "event: add\n\ndata: a\n\n", []record{{"", "a", ""}}},
		{"type lasts one event", "event: add\ndata: a\n\ndata: b\n\n", []record{{"add", "a", ""}, {"", "b", ""}}},
		{"id stays", "id: 1\ndata: a\n\ndata: b\n\n", []record{{"", "a", "1"}, {"", "b", "1"}}},
		{"id without data stays", "id: 1\n\ndata: b\n\n", []record{{"", "b", "1"}}},
		{"id emptied", "id: 1\ndata: a\n\nid\ndata: b\n\n", []record{{"", "a", "1"}, {"", "b", ""}}},
		{"id with NUL is ignored", "id: 1\nid: 2\x003\ndata: a\n\n", []record{{"", "a", "1"}}},
		{"unfinished frame", "data: a\n\ndata: b\n", []record{{"", "a", ""}}},
		{"unfinished line", "data: a\n\ndata: b", []record{{"", "a", ""}}},
		{"empty", "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for i := range len(c.stream) + 1 {
				got, err := decode(Options{}, c.stream[:i], c.stream[i:])
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("split at %d: got %q, %v; want %q", i, got, err, c.want)
				}
			}
			if reference := reference(c.stream, false); !slices.Equal(reference, c.want) {
				t.Errorf("the reference says %q; want %q", reference, c.want)
			}
		})
	}
}

func TestKeepUnfinished(t *testing.T) {
	for stream, want := range map[string][]record{
		"data: a\n\ndata: b\n":       {{"", "a", ""}, {"", "b", ""}},
		"event: x\ndata: a\ndata: b": {{"x", "a\nb", ""}},
		"data: a\n\n":                {{"", "a", ""}},
		"event: x\n":                 nil,
		"data: a\ndat":               {{"", "a", ""}},
		"\xef\xbb":                   nil,
	} {
		if got, err := decode(Options{KeepUnfinished: true}, stream); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", stream, got, err, want)
		}
	}
}

func TestRetry(t *testing.T) {
	for stream, want := range map[string]time.Duration{
		"":                                     0,
		"retry: 1500\n":                        1500 * time.Millisecond,
		"retry: 1500\nretry: 1s\n":             1500 * time.Millisecond,
		"retry: 1500\nretry\n":                 1500 * time.Millisecond,
		"retry: 1500\nretry: -1\n":             1500 * time.Millisecond,
		"retry: 1500\nretry: +1\n":             1500 * time.Millisecond,
		"retry: 1500\nretry: 0\n":              0,
		"retry: 5\nretry: 9223372036854775807": 5 * time.Millisecond,
		"retry: 5\nretry: 9223372036854775807\nretry: 99999999999999999999\n": 5 * time.Millisecond,
	} {
		d := New(Options{})
		if err := d.Decode([]byte(stream), nil); err != nil || d.Retry() != want {
			t.Errorf("%q: got %v, %v; want %v", stream, d.Retry(), err, want)
		}
	}
}

// tricky has every rule and line end in it, close together.
const tricky = "\xef\xbb\xbf: hi\r\ndata: a\r\n\r\ndata:b\rdata\r\revent: add\nid: 7\ndata:  c\n" +
	"data: d\r\ndata: e\r\r\n\n\nevent: gone\n\nid: 1\x00\ndata\n\n\xef\xbb\xbfdata: no\nretry: 10\n\n" +
	"event: x\revent: longer\rdata: é\u2028\rdata\rdata:\r\r\n\r\ndata: last\ndata: unfini"

func TestEverySplit(t *testing.T) {
	for _, keep := range []bool{false, true} {
		want := reference(tricky, keep)
		if len(want) < 5 {
			t.Fatalf("the stream is not tricky: %q", want)
		}
		for i := range len(tricky) + 1 {
			got, err := decode(Options{KeepUnfinished: keep}, tricky[:i], "", tricky[i:])
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("split at %d: got %q, %v; want %q", i, got, err, want)
			}
		}
		got, err := decode(Options{KeepUnfinished: keep}, bytewise(tricky)...)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("byte by byte: got %q, %v; want %q", got, err, want)
		}
	}
}

func TestFrameTooLarge(t *testing.T) {
	const limit = 20
	cases := []struct {
		name, stream string
		want         []record
		tooLarge     bool
	}{
		{"a line of the limit", "data:" + strings.Repeat("x", limit-5) + "\n\n", []record{{"", strings.Repeat("x", limit-5), ""}}, false},
		{"a line over it", "data: a\n\ndata:" + strings.Repeat("x", limit-4) + "\n\n", []record{{"", "a", ""}}, true},
		{"a line that doesn't end", strings.Repeat("x", limit+1), nil, true},
		{"a comment over it", ":" + strings.Repeat("x", limit) + "\n", nil, true},
		{"many lines", strings.Repeat("data: 12345\n", 4) + "\n", nil, true},
		{"many frames", strings.Repeat("data: 12345\n\n", 4), slices.Repeat([]record{{"", "12345", ""}}, 4), false},
		{"many comments", strings.Repeat(": 12345\n", 9), nil, false},
		{"type and data", "event: 1234567890\ndata: 67890\n\n", nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for i := range len(c.stream) + 1 {
				got, err := decode(Options{MaxFrameBytes: limit}, c.stream[:i], c.stream[i:])
				if errors.Is(err, ErrFrameTooLarge) != c.tooLarge || !slices.Equal(got, c.want) {
					t.Fatalf("split at %d: got %q, %v", i, got, err)
				}
				if c.tooLarge && !strings.Contains(err.Error(), "20 bytes") {
					t.Fatalf("the error doesn't say the limit: %v", err)
				}
			}
		})
	}
}

func TestYieldError(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	yield := func(Event) error { calls++; return stop }
	d := New(Options{KeepUnfinished: true})
	stream := []byte("data: a\n\ndata: b\n\ndata: c")
	for range 2 {
		if err := d.Decode(stream, yield); !errors.Is(err, stop) {
			t.Errorf("Decode: %v", err)
		}
	}
	if err := d.Finish(yield); !errors.Is(err, stop) {
		t.Errorf("Finish: %v", err)
	}
	if calls != 1 {
		t.Errorf("yielded %d times after an error", calls-1)
	}
}

// bytewise cuts s into its bytes.
func bytewise(s string) []string {
	pieces := make([]string, len(s))
	for i := range pieces {
		pieces[i] = s[i : i+1]
	}
	return pieces
}
