package sse

import "bytes"

// cursor walks over the lines of one piece. It looks for each of the two line-end bytes on its own
// and keeps what it found, so every byte is looked at once for each, however the ends are mixed.
type cursor struct {
	p []byte
	// at is where the next line starts; lf and cr are the first LF and CR from there on, len(p) when
	// there is none. Values before at are out of date.
	at, lf, cr int
}

func newCursor(p []byte) cursor { return cursor{p: p, lf: -1, cr: -1} }

// next returns the next line that ends within the piece, without its line end: LF, CR or CRLF.
func (c *cursor) next() (line []byte, ok bool) {
	if c.lf < c.at {
		c.lf = c.find('\n')
	}
	if c.cr < c.at {
		c.cr = c.find('\r')
	}
	end := min(c.lf, c.cr)
	if end == len(c.p) {
		return nil, false
	}
	line = c.p[c.at:end]
	c.at = end + 1
	if end == c.cr && c.lf == c.at && c.lf < len(c.p) {
		c.at++
	}
	return line, true
}

// rest returns the unfinished line behind the last one.
func (c *cursor) rest() []byte { return c.p[c.at:] }

func (c *cursor) find(b byte) int {
	if i := bytes.IndexByte(c.p[c.at:], b); i >= 0 {
		return c.at + i
	}
	return len(c.p)
}
