package stdout

import "time"

// directBytes is the most that a producer writes itself: PIPE_BUF of Linux (pipe(7)), one page, which
// an idle pipe takes at once.
const directBytes = 4 << 10

// startLocked gets what waits written: by the producer itself where that can't block, else by the
// writer. Nobody writes yet.
func (s *Sink) startLocked() {
	s.idle = false
	if s.options.TryWrite == nil || s.closing || s.events+s.guaranteed > directBytes {
		s.wake.Signal()
		return
	}
	s.direct = true
	s.composeLocked(&s.piece)
	s.writing = time.Now()
	s.mu.Unlock()
	line := s.piece.render()
	if len(line) <= directBytes {
		n := s.options.TryWrite(line)
		s.wroteBytes.Add(int64(n))
		line = line[n:]
	}
	if len(line) == 0 {
		s.measure()
	}
	s.mu.Lock()
	s.direct = false
	s.endDirectLocked(line)
}

// endDirectLocked hands the writer what a producer's write has left, or what gathered meanwhile.
func (s *Sink) endDirectLocked(left []byte) {
	if len(left) > 0 {
		s.rest = left
	} else {
		s.settleLocked()
	}
	if s.rest != nil || s.waitingLocked() || s.closing {
		s.wake.Signal()
		return
	}
	s.idle = true
}
