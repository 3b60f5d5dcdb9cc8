package top

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1000), "-1,000"}, {count(-100), "-100"},
		{count(9_999_999), "9,999,999"}, {count(12_345_678), "12.3 M"}, {count(1_234_567_890), "1.23 G"}, {limit(64 << 20), "64 MiB"}, {limit(1536), "1.5 KiB"},
		{rate(0), "0"}, {rate(0.04), "0.0"}, {rate(1.25), "1.2"}, {rate(9.96), "10"}, {rate(12_340), "12,340"},
		{size(0), "0 B"}, {size(1023), "1023 B"}, {size(1024), "1.0 KiB"}, {size(1536), "1.5 KiB"}, {size(64 << 20), "64.0 MiB"}, {size(100 << 20), "100 MiB"}, {size(1 << 50), "1024 TiB"},
		{span(-time.Second), "0"}, {span(250), "250 ns"}, {span(1500), "1.5 µs"}, {span(1500 * time.Microsecond), "1 ms"},
		{span(1500 * time.Millisecond), "1.5 s"}, {span(61 * time.Second), "1m01s"}, {span(3725 * time.Second), "1h02m"}, {span(125 * time.Hour), "5d05h"},
		{percent(0), "0 %"}, {percent(0.004), "<1 %"}, {percent(0.5), "50 %"}, {percent(1.25), "125 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestIdentifier(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `""`: `""`, `7`: "7", `1.0`: "1.0", `"7"`: `"7"`, `"true"`: `"true"`, `"a b"`: "a b", `"\u001b[31mx\u202e\u009b"`: "[31mx", `"\ud800"`: "\ufffd",
	} {
		if got := identifier(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	if got := identifier(json.RawMessage(`"` + strings.Repeat("é", 1<<20) + `"`)); len(got) > 2*maxIdentifierBytes {
		t.Errorf("a long id keeps %d bytes", len(got))
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{fit("ab", 4), "ab  "}, {fit("abcdef", 4), "abc…"}, {fit("漢字漢字", 4), "漢… "}, {fit("x", 0), ""}, {fit("x", -1), ""},
		{fitMiddle("abcdefgh", 5), "ab…gh"}, {fitMiddle("abcdefgh", 4), "ab…h"}, {fitMiddle("abc", 3), "abc"}, {fitMiddle("abc", 2), "a…"},
		{right("ab", 4), "  ab"}, {right("abcde", 4), "abcde"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// FuzzParseSnapshot: whatever answers, a page of it is made without harm.
func FuzzParseSnapshot(f *testing.F) {
	for _, engine := range engines {
		before, after := engine()
		f.Add(before.json())
		f.Add(after.json())
	}
	f.Add([]byte(`{"uptime_ms":1e300,"queue":{"bytes":-9},"written":{},"chats":[{"id":{}}],"stages":[{"busy_ms":-1e300}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSnapshot(text)
		if err != nil {
			return
		}
		earlier := *s
		earlier.Uptime -= time.Second
		for _, width := range []int{20, 80} {
			p := page{address: "x", now: s, rates: Compare(&earlier, s), zone: time.UTC, width: width, height: 24}
			if shown := p.text(); strings.Count(shown, "\n") != 23 || strings.ContainsAny(shown, "\x1b\r\x07\u009b") {
				t.Errorf("the page is %q", shown)
			}
		}
	})
}
