package sse

import (
	"bytes"
	"strconv"
	"time"
)

// splitField splits a line at its first colon and takes one space off the value. A line without a
// colon is a name with an empty value; a comment has the empty name.
func splitField(line []byte) (name, value []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return line, nil
	}
	name, value = line[:colon], line[colon+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// setRetry takes a number of milliseconds made of digits alone, as the standard asks; anything else,
// and what no duration can hold, is ignored.
func (d *Decoder) setRetry(value []byte) {
	for _, b := range value {
		if b < '0' || b > '9' {
			return
		}
	}
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	if ms, err := strconv.ParseInt(string(value), 10, 64); err == nil && ms <= longest {
		d.retry = time.Duration(ms) * time.Millisecond
	}
}

// piece is a part of the frame being read: a view of the bytes where they were found, and a buffer of
// its own for when they must outlive them.
type piece struct{ view, buffer []byte }

func (p *piece) set(value []byte) { p.view, p.buffer = value, p.buffer[:0] }

// join adds a line to what is there.
func (p *piece) join(value []byte) {
	p.own()
	p.buffer = append(append(p.buffer, '\n'), value...)
	p.view = p.buffer
}

// own makes the view independent of where it was found. A buffer with something in it already is what
// the view shows, since set and clear empty it.
func (p *piece) own() {
	if len(p.buffer) == 0 {
		p.buffer = append(p.buffer, p.view...)
	}
	p.view = p.buffer
}

func (p *piece) clear() {
	p.view = nil
	p.buffer = emptied(p.buffer)
}

func emptied(buffer []byte) []byte {
	if cap(buffer) > keptBytes {
		return nil
	}
	return buffer[:0]
}
