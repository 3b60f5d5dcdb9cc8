package stdout

import (
	"log/slog"
	"time"

	"sluice/internal/wire"
)

// accept takes frames in under the lock; the reader plays no part in it.
func (s *Sink) accept(l *Lane, frames []wire.Frame, arrived time.Time) error {
	s.mu.Lock()
	if l.ended {
		s.mu.Unlock()
		return ErrEnded
	}
	dropped := l.delivery.Dropped
	for i := range frames {
		s.acceptLocked(l, &frames[i])
	}
	if l.delivery.Dropped == dropped {
		s.followLocked(l, arrived)
	}
	s.unlock()
	return nil
}

// finish takes the final frame in. It joins the replies, which overtake, where no event of its
// request waits: nothing of its own can be overtaken then.
func (s *Sink) finish(l *Lane, final *wire.Frame) error {
	s.mu.Lock()
	if l.ended {
		s.mu.Unlock()
		return ErrEnded
	}
	l.ended = true
	final.Class = wire.Guaranteed
	box := l.box
	if box.empty() {
		box = &s.replies
	}
	s.appendLocked(box, l, final)
	s.unlock()
	return nil
}

// unlock ends a producer's turn: it wakes the writer if something waits, and logs what was dropped
// once the lock is free.
func (s *Sink) unlock() {
	s.maxFrames = max(s.maxFrames, s.frames)
	s.maxBytes = max(s.maxBytes, s.events+s.guaranteed)
	dropped, total := s.drops, s.dropped
	s.drops = nil
	if s.idle && s.waitingLocked() {
		s.startLocked()
	}
	s.mu.Unlock()
	for i, d := range dropped {
		s.options.Logger.Debug("STDIO_WRITER_DROP", slog.String("request", string(d.id)), slog.String("event", d.event),
			slog.Int64("total", total-int64(len(dropped)-1-i)))
	}
}

func (s *Sink) acceptLocked(l *Lane, f *wire.Frame) {
	switch {
	case f.Class == wire.Guaranteed:
		s.appendLocked(l.box, l, f)
	case s.options.Policy == Drop:
		s.appendOrDropLocked(l, f)
	case s.joinLocked(l, f):
	default:
		s.makeRoomLocked(l, f)
	}
}

// appendOrDropLocked is the Drop policy: no merging, and an arriving event is dropped when the FIFO
// is full.
func (s *Sink) appendOrDropLocked(l *Lane, f *wire.Frame) {
	if l.box.frames >= s.options.QueueFrames || s.events+weight(f) > s.options.PendingBytes {
		s.dropLocked(l, f.Event)
		return
	}
	s.appendLocked(l.box, l, f)
}

// joinLocked lets text join the last waiting line of its request, and a frame of which only the
// latest counts replace it.
func (s *Sink) joinLocked(l *Lane, f *wire.Frame) bool {
	if l.box.empty() || f.Deferred != nil || l.sealed && f.Class == wire.Mergeable {
		return false
	}
	last := l.box.entries.back()
	if last.key != f.Key || last.class != f.Class || last.page.deferred != nil {
		return false
	}
	joined := false
	switch f.Class {
	case wire.Mergeable:
		joined = s.mergeLocked(l, last, f.Text)
	case wire.LatestWins:
		joined = s.replaceLocked(l, last, f)
	}
	if joined {
		l.delivery.Merged++
		s.merged++
	}
	return joined
}

func (s *Sink) mergeLocked(l *Lane, last *entry, text []byte) bool {
	size := len(text)
	if int(last.text)+size > s.options.MergeBytes || s.events+int64(size) > s.options.PendingBytes {
		return false
	}
	l.box.merge(&s.pages, text)
	s.events += int64(size)
	return true
}

func (s *Sink) replaceLocked(l *Lane, last *entry, f *wire.Frame) bool {
	if s.events+weight(f)-last.weight() > s.options.PendingBytes {
		return false
	}
	s.removeLocked(l.box)
	s.appendLocked(l.box, l, f)
	return true
}

// makeRoomLocked queues an event; where the bound is reached, the newest waiting event of the
// request that holds most is given up for it, which may be the arriving one itself.
func (s *Sink) makeRoomLocked(l *Lane, f *wire.Frame) {
	need := weight(f)
	for s.events+need > s.options.PendingBytes {
		victim := s.turns.fattest(l.box.eventBytes + need)
		if victim == nil {
			s.dropLocked(l, f.Event)
			return
		}
		e := s.removeLocked(victim)
		s.dropLocked(e.owner, e.event)
		if victim.empty() {
			s.turns.leave(victim)
		}
	}
	s.appendLocked(l.box, l, f)
	l.sealed = false
}

// appendLocked queues a frame, unless the reader has gone.
func (s *Sink) appendLocked(box *mailbox, l *Lane, f *wire.Frame) {
	if s.broken {
		return
	}
	if s.extendsLocked(box, l, f) {
		box.extend(f)
	} else {
		box.append(&s.pages, l, f)
	}
	s.frames++
	if f.Class == wire.Guaranteed {
		s.guaranteed += weight(f)
		s.holdLocked()
	} else {
		s.events += weight(f)
	}
	if box != &s.replies {
		s.turns.join(box)
	}
}

// extendsLocked reports whether the frame may join the newest entry's run of lines, none of which
// needs to be told apart from the others: replies, and with Drop all lines of one request, since
// what waits is never dropped there.
func (s *Sink) extendsLocked(box *mailbox, l *Lane, f *wire.Frame) bool {
	if box.empty() || f.Deferred != nil {
		return false
	}
	e := box.entries.back()
	if e.page != box.last || e.class != f.Class || e.counted != l.counts(f) || e.size+cost(f) > turnBytes || !e.page.fits(e.class, cost(f)) {
		return false
	}
	return e.owner.reply && l.reply || s.options.Policy == Drop && e.owner == l
}

// removeLocked takes the newest event out of a mailbox and out of the sums.
func (s *Sink) removeLocked(box *mailbox) entry {
	e := box.removeNewestEvent(&s.pages)
	s.frames -= int64(e.frames)
	s.events -= e.weight()
	if e.followed {
		s.followed = time.Time{}
	}
	return e
}

func (s *Sink) dropLocked(l *Lane, event string) {
	l.delivery.Dropped++
	l.sealed = true
	s.dropped++
	if s.logDrops {
		s.drops = append(s.drops, drop{id: l.id, event: event})
	}
}
