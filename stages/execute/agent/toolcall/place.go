package toolcall

import "strings"

// place knows what surrounds a place of a text, which only moves on.
type place struct {
	text string
	at   int
	// fence is the number of backticks or tildes, sign, of the code fence that at is in; 0 outside.
	fence int
	sign  byte
	// span says that an odd number of runs of backticks stands before at in its line.
	span bool
	// word is the end of what stands before at in its line, blanks aside; negative when nothing does.
	word int
	// indent is the width of the blanks at the beginning of the line; a tab counts four.
	indent int
}

// move goes on to the place to.
func (p *place) move(to int) {
	for p.at < to {
		c := p.text[p.at]
		switch {
		case c == '\n':
			p.span, p.word, p.indent = false, -1, 0
		case isSpace(c):
			if p.word < 0 {
				p.indent++
			}
			if c == '\t' {
				p.indent += 3
			}
		case c == '`', c == '~' && p.word < 0:
			p.ticks()
			continue
		default:
			p.word = p.at + 1
		}
		p.at++
	}
}

// ticks reads a run of backticks or tildes: a fence at the start of a line, else a side of a code span.
// What is behind the label of an opening fence in its line is no text.
func (p *place) ticks() {
	run, sign := 0, p.text[p.at]
	for p.at+run < len(p.text) && p.text[p.at+run] == sign {
		run++
	}
	first := p.word < 0
	p.at += run
	p.word = p.at
	switch {
	case p.fence > 0:
		if first && sign == p.sign && run >= p.fence && strings.TrimSpace(p.line()) == "" {
			p.fence = 0
		}
	case first && run >= 3 && (sign == '~' || strings.IndexByte(p.line(), '`') < 0):
		p.fence, p.sign = run, sign
	case sign == '`':
		p.span = !p.span
	}
}

// line returns the rest of the line.
func (p *place) line() string { return p.text[p.at : p.at+lineEnd(p.text[p.at:])] }

// jump goes on to the place to without looking, as if a line began there.
func (p *place) jump(to int) {
	p.at, p.span, p.word, p.indent = to, false, -1, 0
}

// quoted reports whether the place is in a code fence or span.
func (p *place) quoted() bool { return p.fence > 0 || p.span }

// starts reports whether a sentence may begin here: at the start of a line that is not indented as
// Markdown's code blocks are, or after the end of another. The number of a list's item ends
// none, nor does a colon, behind which examples stand.
func (p *place) starts() bool {
	if p.word < 0 {
		return p.indent < 4
	}
	if p.word > 1 && p.text[p.word-1] == '.' && p.text[p.word-2] >= '0' && p.text[p.word-2] <= '9' {
		return false
	}
	for _, end := range []string{".", "!", "?", "…", "。", "！", "？"} {
		if strings.HasSuffix(p.text[:p.word], end) {
			return true
		}
	}
	return false
}
