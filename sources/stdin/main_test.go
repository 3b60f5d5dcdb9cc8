package stdin

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tooLong stands for an overlong line in a list of lines.
const tooLong = "(too long)"

// collector is a Stage that copies the lines it gets.
type collector struct {
	lines  []string
	counts []int
	fail   error
	done   []error
}

func (c *collector) Push(_ context.Context, element any) error {
	lines := element.(*wire.Lines).Items
	for _, line := range lines {
		c.lines = append(c.lines, text(line))
	}
	c.counts = append(c.counts, len(lines))
	return c.fail
}

func (c *collector) Done(cause error) { c.done = append(c.done, cause) }

func text(line wire.Line) string {
	if line.TooLong {
		return tooLong + string(line.Bytes)
	}
	return string(line.Bytes)
}

// pieces is a reader that returns at most one piece a read, and end after the last.
type pieces struct {
	list []string
	end  error
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.list) == 0 {
		return 0, p.end
	}
	n := copy(b, p.list[0])
	if p.list[0] = p.list[0][n:]; p.list[0] == "" {
		p.list = p.list[1:]
	}
	return n, nil
}

// read runs a Source over the pieces of an input.
func read(t *testing.T, max int, list ...string) []string {
	t.Helper()
	c := &collector{}
	s := New(&pieces{list, io.EOF}, Options{MaxLineBytes: max})
	s.next = c
	if err := s.Run(t.Context()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if !slices.Equal(c.done, []error{nil}) {
		t.Fatalf("Done was called with %v", c.done)
	}
	if slices.Contains(c.counts, 0) {
		t.Fatal("an empty batch was pushed")
	}
	return c.lines
}

// reference cuts a whole input into lines, one rule after the other.
func reference(input string, max int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimPrefix(input, "\xef\xbb\xbf"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case len(line) > max:
			lines = append(lines, tooLong)
		case strings.Trim(line, " \t\r") != "":
			lines = append(lines, line)
		}
	}
	return lines
}

func bytewise(s string) []string {
	list := make([]string, len(s))
	for i := range list {
		list[i] = s[i : i+1]
	}
	return list
}

func repeat(b byte, n int) string { return string(bytes.Repeat([]byte{b}, n)) }
