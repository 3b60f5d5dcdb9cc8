package stdout

import (
	"time"

	"sluice/internal/wire"
)

// measure takes the time of a write. Whoever wrote calls it, without the lock, before the piece is
// settled: until then writing and piece are its own to read.
func (s *Sink) measure() {
	p, now := &s.piece, time.Now()
	p.took = now.Sub(s.writing)
	if s.options.OnWrite != nil {
		added := time.Duration(0)
		if !p.arrived.IsZero() {
			added = now.Sub(p.arrived)
		}
		s.options.OnWrite(p.took, added)
	}
	if p.took >= s.options.StallThreshold && s.options.OnStall != nil {
		s.options.OnStall(s.stall(now))
	}
}

// stall describes the write that has just ended.
func (s *Sink) stall(now time.Time) wire.Stall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Stall{
		Cause:   wire.CauseReader,
		Took:    s.piece.took,
		Ended:   now,
		Request: s.piece.request,
		Frames:  s.frames,
		Bytes:   s.events + s.guaranteed,
	}
}

// endWriteLocked counts the write that was measured.
func (s *Sink) endWriteLocked() {
	s.writing = time.Time{}
	if took := s.piece.took; took >= s.options.StallThreshold {
		s.stalls.Count++
		s.stalls.Time += took
	}
}

// followLocked follows the batch whose last frame has just become or joined the lane's last entry,
// unless another one is followed already.
func (s *Sink) followLocked(l *Lane, arrived time.Time) {
	if s.options.OnWrite == nil || arrived.IsZero() || !s.followed.IsZero() || l.box.empty() {
		return
	}
	if e := l.box.entries.back(); e.owner == l {
		e.followed = true
		s.followed = arrived
	}
}
