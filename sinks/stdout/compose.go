package stdout

import "time"

// replyShare is how much of a piece replies may take while events wait too, so that a flood of pings
// does not starve the streams.
const replyShare = pieceBytes / 2

// turnBytes is how much one request gives in its turn, so that one chatty stream does not starve
// another: about eighty unmerged lines.
const turnBytes = 8 << 10

// composeLocked fills the piece with what waits: replies first, then the requests in turns. A piece
// in which no request found room is followed by one in which they go first.
func (s *Sink) composeLocked(p *piece) {
	if !s.turnsFirst {
		s.takeLocked(p, &s.replies, pieceBytes, s.replyLimitLocked())
	}
	before := p.frames
	for s.turns.front != nil && s.takeTurnLocked(p) {
	}
	s.turnsFirst = s.turns.front != nil && p.frames == before
	s.takeLocked(p, &s.replies, pieceBytes, pieceBytes)
}

func (s *Sink) replyLimitLocked() int {
	if s.turns.front == nil {
		return pieceBytes
	}
	return replyShare
}

// takeTurnLocked gives the request in front its turn, in deficit round robin: who took more than a
// turn's bytes for a long line waits until the others have caught up. It returns false when the
// piece is full.
func (s *Sink) takeTurnLocked(p *piece) bool {
	box := s.turns.front
	if box.credit <= 0 {
		box.credit += turnBytes
	}
	taken, room := s.takeLocked(p, box, box.credit, pieceBytes)
	box.credit = max(box.credit-taken, -pieceBytes)
	switch {
	case box.empty():
		s.turns.leave(box)
		box.credit = 0
	case box.credit <= 0:
		s.turns.leave(box)
		s.turns.join(box)
	}
	return room
}

// takeLocked moves lines from the mailbox to the piece until share bytes were taken. room is false
// when the next line does not fit into limit.
func (s *Sink) takeLocked(p *piece, box *mailbox, share, limit int) (taken int, room bool) {
	for taken < share && !box.empty() {
		e := box.entries.at(0)
		if !p.fits(e.size, limit) {
			return taken, false
		}
		taken += e.size
		if e.counted {
			e.owner.delivery.Sent += int64(e.frames)
			s.sent += int64(e.frames)
		}
		if e.followed {
			p.arrived, s.followed = s.followed, time.Time{}
		}
		p.add(e)
		box.drop(&s.pages)
	}
	return taken, true
}
