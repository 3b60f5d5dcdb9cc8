package stdin

import (
	"bytes"
	"math"

	"sluice/internal/wire"
)

// readBytes is how much is read at once while lines are short: what a pipe holds on Linux.
const readBytes = 64 << 10

// keptItems is how many lines a batch keeps room for: 16 bytes each in a full read.
const keptItems = readBytes / 16

var byteOrderMark = []byte("\xef\xbb\xbf")

// cutter cuts what was read into lines. A step is room, a read into it, cut, the push of what cut
// returned, and settle. It never holds more than the longest line and readBytes.
type cutter struct {
	max int
	// buffer[start:end] has been read and belongs to no line yet; before seen there is no newline.
	buffer           []byte
	start, seen, end int
	// begun is set once a byte order mark can't come any more.
	begun bool
	// skipping is set while the rest of an overlong line passes by; its newline clears it.
	skipping bool
	lines    wire.Lines
}

// newCutter returns a cutter of lines of at most max bytes. A buffer holds readBytes more than that.
func newCutter(max int) cutter {
	return cutter{max: min(max, math.MaxInt-readBytes), buffer: make([]byte, readBytes)}
}

// room returns where to read to. It is never empty: a line that fills the buffer lets it grow, and
// one that is longer than the limit doesn't stay in it.
func (c *cutter) room() []byte {
	if c.end == len(c.buffer) {
		c.resize(min(2*len(c.buffer), c.max+readBytes))
	}
	return c.buffer[c.end:]
}

// cut takes n bytes that were read into room and returns the lines that they complete. With last
// nothing follows, so what is left is a line as well. The lines are borrowed until settle.
func (c *cutter) cut(n int, last bool) *wire.Lines {
	c.end += n
	c.skipMark()
	for c.begun {
		newline := bytes.IndexByte(c.buffer[c.seen:c.end], '\n')
		if newline < 0 {
			break
		}
		c.take(c.buffer[c.start : c.seen+newline])
		c.start = c.seen + newline + 1
		c.seen = c.start
	}
	c.seen = c.end
	switch {
	case last:
		c.take(c.buffer[c.start:c.end])
		c.start = c.end
	case c.begun:
		c.giveUpOverlong()
	}
	return &c.lines
}

// skipMark takes a byte order mark off the start of the input. While what came may be the start of
// one it waits for more.
func (c *cutter) skipMark() {
	if c.begun {
		return
	}
	read := c.buffer[c.start:c.end]
	switch {
	case bytes.HasPrefix(read, byteOrderMark):
		c.start += len(byteOrderMark)
	case bytes.HasPrefix(byteOrderMark, read):
		return
	}
	c.begun = true
	c.seen = c.start
}

// take adds a line that has ended, unless it is blank or the rest of one that was given up.
func (c *cutter) take(line []byte) {
	if c.skipping {
		c.skipping = false
		return
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	switch {
	case len(line) > c.max:
		c.lines.Items = append(c.lines.Items, wire.Line{TooLong: true})
	case !blank(line):
		c.lines.Items = append(c.lines.Items, wire.Line{Bytes: line})
	}
}

// giveUpOverlong reports an unfinished line as soon as it can only be too long, and forgets it.
func (c *cutter) giveUpOverlong() {
	if !c.skipping {
		pending := c.buffer[c.start:c.end]
		if len(bytes.TrimSuffix(pending, []byte{'\r'})) <= c.max {
			return
		}
		c.lines.Items = append(c.lines.Items, wire.Line{TooLong: true})
		c.skipping = true
	}
	c.start = c.end
}

// settle ends the step: the batch may be reused, the unfinished line moves to the front, and a buffer
// that a long line made big is let go.
func (c *cutter) settle() {
	c.lines.Items = c.lines.Items[:0]
	if cap(c.lines.Items) > keptItems {
		c.lines.Items = nil
	}
	if len(c.buffer) > readBytes && c.end-c.start < readBytes {
		c.resize(readBytes)
		return
	}
	if c.start > 0 {
		c.moveTo(c.buffer)
	}
}

func (c *cutter) resize(size int) { c.moveTo(make([]byte, size)) }

func (c *cutter) moveTo(buffer []byte) {
	n := copy(buffer, c.buffer[c.start:c.end])
	c.buffer, c.seen, c.start, c.end = buffer, c.seen-c.start, 0, n
}

// blank reports whether a line has nothing but white space in it.
func blank(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}
