package process

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"unicode"
)

// maxLine is how many bytes of a line are kept; the rest of the line is read and dropped.
const maxLine = 4096

// Tail reads a child's output so that the child never waits for us, and keeps its last lines.
type Tail struct {
	keep  int
	clean func(string) string
	each  func(string)

	mu    sync.Mutex
	lines []string // the last keep lines, oldest first
}

// NewTail returns a Tail that keeps the last keep lines. clean, when not nil, takes secrets out of each
// line before anybody sees it; each, when not nil, is called with each line and must not block.
func NewTail(keep int, clean func(string) string, each func(string)) *Tail {
	return &Tail{keep: keep, clean: clean, each: each}
}

// Drain reads until the end or an error. Lines are made printable: invalid UTF-8 and control
// characters are replaced.
func (t *Tail) Drain(r io.Reader) {
	reader := bufio.NewReaderSize(r, 2*maxLine) // a secret that the cut goes through is seen whole by clean
	for {
		line, more, err := reader.ReadLine()
		if err != nil {
			return
		}
		text := string(line)
		for more && err == nil {
			_, more, err = reader.ReadLine()
		}
		t.add(text)
	}
}

func (t *Tail) add(line string) {
	line = strings.Map(printable, strings.ToValidUTF8(line, "\uFFFD"))
	if t.clean != nil {
		line = t.clean(line)
	}
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "")
	}
	t.mu.Lock()
	if len(t.lines) == t.keep {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
	t.mu.Unlock()
	if t.each != nil {
		t.each(line)
	}
}

// Lines returns a copy of the last lines, oldest first.
func (t *Tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}

func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return ' '
	}
	return r
}
