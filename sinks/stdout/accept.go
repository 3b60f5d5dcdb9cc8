package stdout

import (
	"log/slog"

	"sluice/internal/wire"
)

// accept takes frames in under the lock; the reader plays no part in it.
func (s *Sink) accept(l *Lane, frames []wire.Frame) error {
	s.mu.Lock()
	if l.ended {
		s.mu.Unlock()
		return ErrEnded
	}
	for i := range frames {
		s.acceptLocked(l, &frames[i])
	}
	s.unlock()
	return nil
}

// unlock ends a producer's turn: it wakes the writer if something waits, and logs what was dropped
// once the lock is free.
func (s *Sink) unlock() {
	s.maxFrames = max(s.maxFrames, s.frames)
	s.maxBytes = max(s.maxBytes, s.events+s.guaranteed)
	if s.idle && s.waitingLocked() {
		s.idle = false
		s.wake.Signal()
	}
	dropped, total := s.drops, s.dropped
	s.drops = nil
	s.mu.Unlock()
	for i, d := range dropped {
		s.options.Logger.Debug("STDIO_WRITER_DROP", slog.String("request", string(d.id)), slog.String("event", d.event),
			slog.Int64("total", total-int64(len(dropped)-1-i)))
	}
}

func (s *Sink) acceptLocked(l *Lane, f *wire.Frame) {
	switch {
	case s.broken:
		return
	case f.Class == wire.Guaranteed:
		s.keepLocked(l, f, false)
	case s.options.Policy == Drop:
		s.keepOrDropLocked(l, f)
	case s.joinLocked(l, f):
	default:
		s.makeRoomLocked(l, f)
	}
}

// keepLocked queues a guaranteed frame. A final frame joins the replies, which overtake, where no
// event of its request waits: nothing of its own can be overtaken then.
func (s *Sink) keepLocked(l *Lane, f *wire.Frame, final bool) {
	box := l.box
	if final && box.empty() {
		box = &s.replies
	}
	if f.Deferred == nil && l.reply && extendable(box) {
		box.extend(f.Head)
		s.frames++
		s.guaranteed += int64(len(f.Head))
	} else {
		s.appendLocked(box, l, f)
	}
	s.holdLocked()
}

// extendable reports whether the newest entry is an encoded reply with room in its page.
func extendable(box *mailbox) bool {
	if box.empty() {
		return false
	}
	e := box.entries.back()
	return e.guaranteed() && e.page != nil && e.owner.reply && e.page == box.last && len(e.page.buf) < pageTarget
}

// keepOrDropLocked is the Drop policy: no merging, and an arriving event is dropped when the FIFO is
// full.
func (s *Sink) keepOrDropLocked(l *Lane, f *wire.Frame) {
	if l.box.frames >= s.options.QueueFrames || s.events+int64(cost(f)) > s.options.PendingBytes {
		s.dropLocked(l, f.Event)
		return
	}
	s.appendLocked(l.box, l, f)
}

// joinLocked lets text join the last waiting line of its request, and a frame of which only the
// latest counts replace it.
func (s *Sink) joinLocked(l *Lane, f *wire.Frame) bool {
	if l.sealed || l.box.empty() {
		return false
	}
	last := l.box.entries.back()
	if last.key != f.Key || last.class != f.Class || last.page == nil || last.owner != l {
		return false
	}
	switch f.Class {
	case wire.Mergeable:
		if last.text+len(f.Text) > s.options.MergeBytes || s.events+int64(len(f.Text)) > s.options.PendingBytes {
			return false
		}
		l.box.merge(f.Text)
		s.events += int64(len(f.Text))
	case wire.LatestWins:
		old, _ := l.box.removeNewestEvent(&s.pages)
		s.forgetLocked(&old)
		s.appendLocked(l.box, l, f)
	default:
		return false
	}
	l.delivery.Merged++
	s.merged++
	return true
}

// makeRoomLocked queues an event; where the bound is reached, the newest waiting event of the
// request that holds most is given up for it, which may be the arriving one itself.
func (s *Sink) makeRoomLocked(l *Lane, f *wire.Frame) {
	need := int64(cost(f))
	for s.events+need > s.options.PendingBytes {
		victim := s.fattestLocked(l, need)
		if victim == nil {
			s.dropLocked(l, f.Event)
			return
		}
		e, _ := victim.removeNewestEvent(&s.pages)
		s.forgetLocked(&e)
		s.dropLocked(e.owner, e.event)
		if victim.empty() {
			s.leaveTurnsLocked(victim)
		}
	}
	s.appendLocked(l.box, l, f)
	l.sealed = false
}

// fattestLocked returns the mailbox that holds more event bytes than l would with the arriving
// frame, or nil when l is the one that holds most.
func (s *Sink) fattestLocked(l *Lane, need int64) *mailbox {
	most := l.box.eventBytes + need
	var fattest *mailbox
	for _, box := range s.turns {
		if box.eventBytes > most {
			most, fattest = box.eventBytes, box
		}
	}
	return fattest
}

func (s *Sink) appendLocked(box *mailbox, l *Lane, f *wire.Frame) {
	e := entry{owner: l, class: f.Class, key: f.Key, event: f.Event, deferred: f.Deferred, cost: f.Cost}
	box.append(&s.pages, e, f.Head, f.Text, f.Tail)
	s.frames++
	if e.guaranteed() {
		s.guaranteed += int64(box.entries.back().cost)
	} else {
		s.events += int64(box.entries.back().cost)
	}
	if box != &s.replies && !box.queued {
		box.queued = true
		s.turns = append(s.turns, box)
	}
}

// forgetLocked takes a removed entry out of the sums.
func (s *Sink) forgetLocked(e *entry) {
	s.frames -= int64(e.frames)
	s.events -= int64(e.cost)
}

func (s *Sink) dropLocked(l *Lane, event string) {
	l.delivery.Dropped++
	l.sealed = true
	s.dropped++
	if s.logDrops {
		s.drops = append(s.drops, drop{id: l.id, event: event})
	}
}

func cost(f *wire.Frame) int {
	if f.Deferred != nil {
		return f.Cost
	}
	return len(f.Head) + len(f.Text) + len(f.Tail)
}
