package stdout

import (
	"time"

	"sluice/internal/wire"
)

// pieceBytes is the size up to which lines are gathered into one write: what a Linux pipe holds by
// default (pipe(7)). A line that is longer is a piece of its own.
const pieceBytes = 64 << 10

// bufferKept is the most memory that a piece keeps after a long line.
const bufferKept = 4 * pieceBytes

// piece is what one write carries. The writer owns it; it is filled under the sink's lock.
type piece struct {
	buf      []byte
	deferred []deferredLine
	encoded  []byte // memory for the bytes with the deferred lines in them
	// What the piece holds, taken off the sums when it was written.
	frames, events, guaranteed int64
	planned                    int // bytes, deferred lines as estimated

	request wire.ID       // the first in it that has events
	arrived time.Time     // when the batch arrived that is followed and in it; zero when none is
	took    time.Duration // the write, set by measure
}

// deferredLine is to be encoded at an offset of the piece, with the counts of the moment when the
// writer took it.
type deferredLine struct {
	at       int
	line     wire.Deferred
	delivery wire.Delivery
}

// fits reports whether another line may join the piece, of which limit bytes may be used.
func (p *piece) fits(size, limit int) bool { return p.frames == 0 || p.planned+size <= limit }

// add takes an entry in, whose owner's counts say so already.
func (p *piece) add(e *entry) {
	p.frames += int64(e.frames)
	if p.request == "" {
		p.request = e.owner.id
	}
	p.planned += e.size
	if e.guaranteed() {
		p.guaranteed += e.weight()
	} else {
		p.events += e.weight()
	}
	if line := e.page.deferred; line != nil {
		p.deferred = append(p.deferred, deferredLine{at: len(p.buf), line: line, delivery: e.owner.delivery})
		return
	}
	p.buf = append(p.buf, e.page.buf[e.at:e.at+e.size]...)
}

// render returns the piece's bytes with the deferred lines encoded in their places; they are valid
// until reset. It runs without the sink's lock, because encoding a long answer takes a while.
func (p *piece) render() []byte {
	if len(p.deferred) == 0 {
		return p.buf
	}
	out, from := p.encoded[:0], 0
	for _, d := range p.deferred {
		out = append(out, p.buf[from:d.at]...)
		out = d.line.AppendTo(out, d.delivery)
		from = d.at
	}
	p.encoded = append(out, p.buf[from:]...)
	return p.encoded
}

// reset empties the piece and keeps its memory, unless a long line made it grow.
func (p *piece) reset() {
	clear(p.deferred)
	*p = piece{buf: emptied(p.buf), deferred: p.deferred[:0], encoded: emptied(p.encoded)}
}

func emptied(buf []byte) []byte {
	if cap(buf) > bufferKept {
		return nil
	}
	return buf[:0]
}
