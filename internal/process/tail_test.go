package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	numbers := func(from, to int) (lines []string) {
		for i := from; i < to; i++ {
			lines = append(lines, fmt.Sprint("line ", i))
		}
		return lines
	}
	for name, c := range map[string]struct {
		input string
		want  []string
	}{
		"nothing":            {"", nil},
		"the last ones":      {strings.Join(numbers(0, 9), "\n") + "\n", numbers(4, 9)},
		"CRLF and no end":    {"a\r\nb", []string{"a", "b"}},
		"a long line is cut": {long + "\nnext\n", []string{long[:maxLine], "next"}},
		"a long last line":   {long, []string{long[:maxLine]}},
		"unprintable":        {"a\x1b[31m\xff\tb\x00\n", []string{"a [31m\uFFFD\tb "}},
		"a secret":           {"the key is hunter2\n", []string{"the key is ***"}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			tail := NewTail(5, strings.NewReplacer("hunter2", "***").Replace, func(line string) { seen = append(seen, line) })
			tail.Drain(strings.NewReader(c.input))
			if got := tail.Lines(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if len(seen) > 5 {
				seen = seen[len(seen)-5:]
			}
			if !slices.Equal(seen, c.want) {
				t.Errorf("told %q, want %q", seen, c.want)
			}
		})
	}
}

// A secret through which a long line is cut is taken out all the same.
func TestTailCutsAfterCleaning(t *testing.T) {
	const key = "0123456789abcdef"
	tail := NewTail(1, func(line string) string { return strings.ReplaceAll(line, key, "[redacted]") }, nil)
	tail.Drain(strings.NewReader(strings.Repeat("x", maxLine-8) + key + strings.Repeat("y", 2*maxLine)))
	if got := tail.Lines()[0]; len(got) != maxLine || strings.Contains(got, key[:4]) {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-20:])
	}
}
