// Package sse decodes event streams (text/event-stream) incrementally, by the rules of the WHATWG HTML
// standard, section "Server-sent events".
//
// Concurrency law: a [Decoder] belongs to one goroutine and does no I/O of its own; the caller feeds it
// what it read. There is nothing to close: [Decoder.Finish] says that the stream has ended.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// DefaultMaxFrameBytes bounds a frame when Options don't: the largest request line of a host has room
// in one.
const DefaultMaxFrameBytes = 16 << 20

// keptBytes is how large a buffer may stay once its frame was handled; a larger one is let go, so that
// one big frame doesn't make every stream big for good.
const keptBytes = 64 << 10

// ErrFrameTooLarge says that a frame exceeded Options.MaxFrameBytes; the message around it gives the
// limit in bytes.
var ErrFrameTooLarge = errors.New("event stream frame too large")

// Options change how a Decoder works; the zero value is the default.
type Options struct {
	// MaxFrameBytes bounds what one frame may hold, in bytes: its data and type so far and the line
	// being read. 0 means DefaultMaxFrameBytes.
	MaxFrameBytes int
	// KeepUnfinished makes Finish deliver a last frame that no empty line has ended. The standard
	// discards it.
	KeepUnfinished bool
}

// Event is one dispatched event. Its slices are borrowed until yield returns.
type Event struct {
	// Type is the event field; empty stands for "message".
	Type []byte
	// Data is what the data lines held, joined by LF. It is as UTF-8 as the stream was: invalid
	// sequences are passed on.
	Data []byte
	// ID is the last event ID of the stream, which stays until an id field changes it.
	ID []byte
}

// Decoder turns the bytes of one stream into events.
type Decoder struct {
	max            int
	keepUnfinished bool
	// begun is set once the byte order mark is behind us; marked counts how much of it came before.
	begun  bool
	marked int
	// skipLF is set after a piece that ended in CR: an LF that comes next belongs to it.
	skipLF bool
	// line is the unfinished line of the pieces before this one.
	line []byte
	// kind, data and hasData are the frame being read; the empty line clears them.
	kind, data piece
	hasData    bool
	id         []byte
	retry      time.Duration
	err        error
}

// New returns a Decoder at the start of a stream.
func New(options Options) *Decoder {
	d := &Decoder{max: options.MaxFrameBytes, keepUnfinished: options.KeepUnfinished}
	if d.max <= 0 {
		d.max = DefaultMaxFrameBytes
	}
	return d
}

// Decode takes the next piece of the stream, split anywhere, and yields every event that it completes.
// It copies only what a later piece has to complete. It returns ErrFrameTooLarge (wrapped) or the
// error of yield; the stream can't be resumed after either, so every later call returns it again.
func (d *Decoder) Decode(p []byte, yield func(Event) error) error {
	if d.err == nil {
		d.err = d.decode(p, yield)
	}
	return d.err
}

func (d *Decoder) decode(p []byte, yield func(Event) error) error {
	if !d.begun {
		p = d.skipMark(p)
	}
	if d.skipLF && len(p) > 0 {
		d.skipLF = false
		if p[0] == '\n' {
			p = p[1:]
		}
	}
	if len(p) == 0 {
		return nil
	}
	rest, err := d.decodeLines(p, yield)
	if err != nil {
		return err
	}
	d.skipLF = p[len(p)-1] == '\r'
	return d.carry(rest)
}

// skipMark takes the byte order mark off the start of the stream, or notes how much of it has come.
func (d *Decoder) skipMark(p []byte) []byte {
	const mark = "\xef\xbb\xbf"
	for len(p) > 0 && !d.begun {
		if p[0] != mark[d.marked] {
			d.begun = true
			d.line = append(d.line, mark[:d.marked]...)
			break
		}
		d.marked++
		d.begun = d.marked == len(mark)
		p = p[1:]
	}
	return p
}

func (d *Decoder) decodeLines(p []byte, yield func(Event) error) (rest []byte, err error) {
	lines := newCursor(p)
	for {
		line, ok := lines.next()
		if !ok {
			return lines.rest(), nil
		}
		if len(d.line) > 0 {
			line = append(d.line, line...)
			d.line = line[:0]
		}
		if err := d.takeLine(line, yield); err != nil {
			return nil, err
		}
	}
}

// carry copies what the next piece has to complete: the frame first, since it may alias line.
func (d *Decoder) carry(rest []byte) error {
	if d.size()+len(d.line)+len(rest) > d.max {
		return d.tooLarge()
	}
	d.kind.own()
	d.data.own()
	if len(d.line) == 0 {
		d.line = emptied(d.line)
	}
	d.line = append(d.line, rest...)
	return nil
}

func (d *Decoder) takeLine(line []byte, yield func(Event) error) error {
	if len(line) == 0 {
		return d.dispatch(yield)
	}
	if d.size()+len(line) > d.max {
		return d.tooLarge()
	}
	name, value := splitField(line)
	switch string(name) {
	case "data":
		d.addData(value)
	case "event":
		d.kind.set(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			d.id = append(d.id[:0], value...)
		}
	case "retry":
		d.setRetry(value)
	}
	return nil
}

func (d *Decoder) addData(value []byte) {
	if !d.hasData {
		d.hasData = true
		d.data.set(value)
		return
	}
	d.data.join(value)
}

// dispatch ends the frame. One without data is none, but its type is forgotten with it.
func (d *Decoder) dispatch(yield func(Event) error) error {
	event, complete := Event{d.kind.view, d.data.view, d.id}, d.hasData
	d.kind.clear()
	d.data.clear()
	d.hasData = false
	if !complete {
		return nil
	}
	return yield(event)
}

// Between reports whether the decoder stands between two frames and keeps nothing of what came before:
// the next byte begins a line, and what comes next means the same to a new decoder.
func (d *Decoder) Between() bool {
	return d.begun && !d.skipLF && !d.hasData && len(d.line) == 0 && len(d.kind.view) == 0 && d.err == nil
}

// Finish says that the stream has ended. With KeepUnfinished it yields the frame that was not ended
// by an empty line, its last line whole or not. It returns what Decode returns.
func (d *Decoder) Finish(yield func(Event) error) error {
	if d.err == nil && d.keepUnfinished {
		d.err = d.finish(yield)
	}
	return d.err
}

func (d *Decoder) finish(yield func(Event) error) error {
	line := d.line
	d.line = nil
	if len(line) > 0 {
		if err := d.takeLine(line, yield); err != nil {
			return err
		}
	}
	return d.dispatch(yield)
}

// Retry returns the reconnection time that the stream last asked for, 0 when it asked for none.
func (d *Decoder) Retry() time.Duration { return d.retry }

func (d *Decoder) size() int { return len(d.kind.view) + len(d.data.view) }

func (d *Decoder) tooLarge() error {
	return fmt.Errorf("%w: more than %d bytes", ErrFrameTooLarge, d.max)
}
