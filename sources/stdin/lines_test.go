package stdin

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	const max = 8
	cases := []struct {
		name, input string
		want        []string
	}{
		{"nothing", "", nil},
		{"LF", "a\nb\n", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"last line without newline", "a\nb", []string{"a", "b"}},
		{"last line with half a CRLF", "a\r\nb\r", []string{"a", "b"}},
		{"CR alone ends nothing", "a\rb\n", []string{"a\rb"}},
		{"blank lines", "\n \n\t\r\n\r\r\na\n \t", []string{"a"}},
		{"white space stays", " a \n", []string{" a "}},
		{"byte order mark", "\xef\xbb\xbfa\n", []string{"a"}},
		{"byte order mark alone", "\xef\xbb\xbf", nil},
		{"half a byte order mark", "\xef\xbb", []string{"\xef\xbb"}},
		{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbfa\n", []string{"\xef\xbb\xbfa"}},
		{"byte order mark later", "a\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}},
		{"the longest line", "12345678\n12345678\r\n12345678", []string{"12345678", "12345678", "12345678"}},
		{"the longest line after a mark", "\xef\xbb\xbf12345678\r\n", []string{"12345678"}},
		{"one byte over", "123456789\na\n", []string{tooLong, "a"}},
		{"one byte over with CRLF", "123456789\r\na\n", []string{tooLong, "a"}},
		{"one byte over at the end", "a\n123456789", []string{"a", tooLong}},
		{"a CR within the limit's reach", "12345678\rx\na\n", []string{tooLong, "a"}},
		{"two CR", "12345678\r\r\na\n", []string{tooLong, "a"}},
		{"overlong and blank", "          \na\n", []string{tooLong, "a"}},
		{"two overlong", "1234567890\n1234567890\n", []string{tooLong, tooLong}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := reference(c.input, max); !slices.Equal(got, c.want) {
				t.Errorf("the reference says %q; want %q", got, c.want)
			}
			for i := range len(c.input) {
				if got := read(t, max, nonEmpty(c.input[:i], c.input[i:])...); !slices.Equal(got, c.want) {
					t.Errorf("split at %d: got %q; want %q", i, got, c.want)
				}
			}
			if got := read(t, max, bytewise(c.input)...); !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: got %q; want %q", got, c.want)
			}
		})
	}
}

// TestTinyLimit has the byte order mark longer than the longest line.
func TestTinyLimit(t *testing.T) {
	for _, list := range [][]string{{"\xef\xbb\xbfa\n"}, {"\xef", "\xbb", "\xbf", "a", "\n"}} {
		if got := read(t, 1, list...); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%q: got %q", list, got)
		}
	}
}

// TestNoLimit has a limit so large that nothing can be added to it.
func TestNoLimit(t *testing.T) {
	line := repeat('a', 2*readBytes)
	if got := read(t, math.MaxInt, line+"\n"); !slices.Equal(got, []string{line}) {
		t.Errorf("got lines of %v", lengths(got))
	}
}

// TestLinesOverBuffers has lines longer than a read, around the sizes at which the buffer grows.
func TestLinesOverBuffers(t *testing.T) {
	const max = 300_000
	var input strings.Builder
	for _, n := range []int{1, readBytes - 1, 10, readBytes, readBytes + 1, max, 5, max + 1, 3 * max, max - 1, 7} {
		input.WriteString(repeat('a'+byte(n%26), n) + "\r\n")
	}
	want := reference(input.String(), max)
	for _, size := range []int{1 << 20, 4096, 65521} {
		if got := read(t, max, cut(input.String(), size)...); !slices.Equal(got, want) {
			t.Errorf("reads of %d: got lines of %v; want %v", size, lengths(got), lengths(want))
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\r\n\r\nbcd\r\r\nefgh"), uint16(2), uint8(3))
	f.Add([]byte("12345678\r\n123456789\r\n"), uint16(9), uint8(8))
	f.Fuzz(func(t *testing.T, input []byte, at uint16, limit uint8) {
		s, max := string(input), int(limit)+1
		want := reference(s, max)
		i := min(int(at), len(s))
		if got := read(t, max, nonEmpty(s[:i], s[i:])...); !slices.Equal(got, want) {
			t.Errorf("%q split at %d, limit %d: got %q; want %q", s, i, max, got, want)
		}
		if got := read(t, max, bytewise(s)...); !slices.Equal(got, want) {
			t.Errorf("%q byte by byte, limit %d: got %q; want %q", s, max, got, want)
		}
	})
}

// nonEmpty drops empty pieces, which would be reads of nothing.
func nonEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

func cut(s string, size int) (list []string) {
	for len(s) > size {
		list, s = append(list, s[:size]), s[size:]
	}
	return append(list, s)
}

func lengths(lines []string) []int {
	list := make([]int, len(lines))
	for i, line := range lines {
		list[i] = len(line)
	}
	return list
}
