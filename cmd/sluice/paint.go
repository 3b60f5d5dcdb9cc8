package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// colour is a terminal's colour (ECMA-48, SGR).
type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	bold   colour = "1"
	faint  colour = "2"
)

// painter prints for people: in colour where a terminal shows it and nobody forbade it (no-color.org), and
// without control codes of what it prints. The first error is kept.
type painter struct {
	out    io.Writer
	colour bool
	err    error
}

func newPainter(w io.Writer) *painter {
	file, ok := w.(*os.File)
	return &painter{out: w, colour: ok && isTerminal(file) && os.Getenv("NO_COLOR") == "" && obeysEscapes(file)}
}

// paint returns a text in a colour.
func (p *painter) paint(c colour, text string) string {
	if !p.colour || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func (p *painter) println(texts ...string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, strings.TrimRight(strings.Join(texts, ""), " "))
	}
}

// padded fills a text up to a width in characters.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// aligned is padded with the text at the end.
func aligned(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

// asLine returns a text as one line without control codes.
func asLine(text string) string { return strings.Join(strings.Fields(stripped(text)), " ") }
