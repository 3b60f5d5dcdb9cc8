package verify

import "strings"

// First keeps the first line that contains a text.
//
// It is fed by one goroutine. Found and Line may be used by others, Line after Found is closed.
type First struct {
	text  string
	line  string
	at    int64
	found chan struct{}
}

// NewFirst looks for a line with the given text; every line has an empty one.
func NewFirst(text string) *First { return &First{text: text, found: make(chan struct{})} }

// Found is closed when the line has arrived.
func (f *First) Found() <-chan struct{} { return f.found }

// Line returns the line, with its line end, and the clock.Now time of its receipt.
func (f *First) Line() (line string, at int64) { return f.line, f.at }

// ReadLines takes whole lines, each with its line end, received at the given time.
func (f *First) ReadLines(block []byte, at int64) {
	if f.line != "" {
		return
	}
	for line := range strings.Lines(string(block)) {
		if strings.Contains(line, f.text) {
			f.line, f.at = line, at
			close(f.found)
			return
		}
	}
}
