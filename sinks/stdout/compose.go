package stdout

import "sluice/internal/wire"

// pieceBytes is the size up to which lines are gathered into one write: what a Linux pipe holds by
// default (pipe(7)). A line that is longer is a piece of its own.
const pieceBytes = 64 << 10

// replyShare is how much of a piece replies may take while events wait too, so that a flood of pings
// does not starve the streams.
const replyShare = pieceBytes / 2

// turnBytes is how much one request gives in its turn, so that one chatty stream does not starve
// another: about eight unmerged batches of events, or one merged line.
const turnBytes = 8 << 10

// bufferKept is the most memory that the piece keeps after a long line.
const bufferKept = 4 * pieceBytes

// piece is what one write carries. The writer owns it; it is filled under the sink's lock.
type piece struct {
	buf      []byte
	deferred []deferredLine
	// What the piece holds, taken off the sums when it was written.
	frames, events, guaranteed int64
	planned                    int // bytes, deferred lines as estimated
}

// deferredLine is to be encoded at an offset of the piece, with the counts of the moment when the
// writer took it.
type deferredLine struct {
	at       int
	line     wire.Deferred
	delivery wire.Delivery
}

func (p *piece) reset() {
	if cap(p.buf) > bufferKept {
		p.buf = nil
	}
	clear(p.deferred)
	*p = piece{buf: p.buf[:0], deferred: p.deferred[:0]}
}

// fits reports whether another line may join the piece, of which limit bytes may be used.
func (p *piece) fits(cost, limit int) bool { return p.frames == 0 || p.planned+cost <= limit }

// composeLocked fills the piece with what waits: replies first, then the requests in turns. A piece
// that replies have filled is followed by one in which the requests go first.
func (s *Sink) composeLocked(p *piece) {
	if len(s.turns) == 0 {
		s.takeLocked(p, &s.replies, pieceBytes, pieceBytes)
		return
	}
	if !s.turnsFirst {
		s.takeLocked(p, &s.replies, replyShare, replyShare)
	}
	s.turnsFirst = p.planned > replyShare
	for len(s.turns) > 0 && s.takeTurnLocked(p) {
	}
	s.takeLocked(p, &s.replies, pieceBytes, pieceBytes)
}

// takeTurnLocked gives the request in front its turn and sends it to the back when it has more. It
// reports whether the piece has room for the next one.
func (s *Sink) takeTurnLocked(p *piece) bool {
	box := s.turns[0]
	room := s.takeLocked(p, box, turnBytes, pieceBytes)
	if box.empty() {
		s.leaveTurnsLocked(box)
	} else if room {
		copy(s.turns, s.turns[1:])
		s.turns[len(s.turns)-1] = box
	}
	return room
}

// takeLocked moves lines from the mailbox to the piece until share bytes were taken, at least one
// line. It returns false when the next line does not fit into limit.
func (s *Sink) takeLocked(p *piece, box *mailbox, share, limit int) bool {
	for taken := 0; taken < share && !box.empty(); {
		next := box.entries.at(0).cost
		if !p.fits(next, limit) {
			return false
		}
		taken += next
		s.moveLocked(p, box)
	}
	return true
}

func (s *Sink) moveLocked(p *piece, box *mailbox) {
	e := box.pop()
	p.frames += int64(e.frames)
	p.planned += e.cost
	if e.guaranteed() {
		p.guaranteed += int64(e.cost)
	} else {
		p.events += int64(e.cost)
		e.owner.delivery.Sent++
	}
	if e.deferred != nil {
		p.deferred = append(p.deferred, deferredLine{at: len(p.buf), line: e.deferred, delivery: e.owner.delivery})
		return
	}
	p.buf = append(p.buf, e.page.buf[e.at:e.at+e.size]...)
	box.release(&s.pages, &e)
}

// leaveTurnsLocked takes an emptied mailbox out of the turn order.
func (s *Sink) leaveTurnsLocked(box *mailbox) {
	for i, other := range s.turns {
		if other == box {
			s.turns = append(s.turns[:i], s.turns[i+1:]...)
			break
		}
	}
	box.queued = false
}

// render returns the piece's bytes with the deferred lines encoded in their places. It runs without
// the lock, because encoding a long answer takes a while. spare is used for the result when there
// are deferred lines.
func (p *piece) render(spare []byte) (line, kept []byte) {
	if len(p.deferred) == 0 {
		return p.buf, spare
	}
	out, from := spare[:0], 0
	for _, d := range p.deferred {
		out = append(out, p.buf[from:d.at]...)
		out = d.line.AppendTo(out, d.delivery)
		from = d.at
	}
	out = append(out, p.buf[from:]...)
	if cap(out) > bufferKept {
		return out, nil
	}
	return out, out
}
