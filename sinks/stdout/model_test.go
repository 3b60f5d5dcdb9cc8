package stdout

import (
	"slices"

	"sluice/internal/wire"
)

// model says what the sink does, naively: slices that are searched and summed up. It holds for
// programs that are so small that all that waits fits into one piece and one turn.
type model struct {
	options  Options
	queue    []*modelLine // replies and overtaking finals; with Drop everything
	order    []*modelLane // the lanes with something waiting, in turn order
	inFlight []*modelLine
	output   []byte // everything handed to the output so far, in flight included
	merged   int64
	dropped  int64
}

type modelLane struct {
	waiting       []*modelLine
	delivery      wire.Delivery
	sealed, ended bool
}

type modelLine struct {
	lane *modelLane // nil for a reply
	wire.Frame
	text  string
	final bool
}

func (l *modelLine) size() int64 {
	if l.Deferred != nil {
		return int64(l.Cost)
	}
	return int64(len(l.Head) + len(l.text) + len(l.Tail))
}

func (l *modelLine) event() bool { return l.Class != wire.Guaranteed }

// waitingLines returns everything that counts as waiting.
func (m *model) waitingLines() []*modelLine {
	all := slices.Concat(m.inFlight, m.queue)
	for _, lane := range m.order {
		all = append(all, lane.waiting...)
	}
	return all
}

func (m *model) bytes(count func(*modelLine) bool) (sum int64) {
	for _, l := range m.waitingLines() {
		if count(l) {
			sum += l.size()
		}
	}
	return sum
}

func eventBytes(lines []*modelLine) (sum int64) {
	for _, l := range lines {
		if l.event() {
			sum += l.size()
		}
	}
	return sum
}

// roomFor reports whether so many more bytes of events may wait.
func (m *model) roomFor(size int64) bool {
	return eventBytes(m.waitingLines())+size <= m.options.PendingBytes
}

func (m *model) reply(f wire.Frame) { m.queue = append(m.queue, &modelLine{Frame: f}) }

func (m *model) finish(lane *modelLane, f wire.Frame) {
	f.Class = wire.Guaranteed
	lane.ended = true
	l := &modelLine{lane: lane, Frame: f, final: true}
	if len(lane.waiting) == 0 {
		m.queue = append(m.queue, l)
	} else {
		m.enqueue(lane, l)
	}
}

func (m *model) put(lane *modelLane, f wire.Frame) {
	l := &modelLine{lane: lane, Frame: f, text: string(f.Text)}
	switch {
	case !l.event():
		m.enqueue(lane, l)
	case m.options.Policy == Drop:
		if len(m.queue) >= m.options.QueueFrames || !m.roomFor(l.size()) {
			m.drop(lane)
		} else {
			m.enqueue(lane, l)
		}
	case m.join(lane, l):
		lane.delivery.Merged++
		m.merged++
	default:
		m.shedFor(lane, l)
	}
}

func (m *model) enqueue(lane *modelLane, l *modelLine) {
	if m.options.Policy == Drop {
		m.queue = append(m.queue, l)
		return
	}
	lane.waiting = append(lane.waiting, l)
	if !slices.Contains(m.order, lane) {
		m.order = append(m.order, lane)
	}
}

func (m *model) join(lane *modelLane, l *modelLine) bool {
	if len(lane.waiting) == 0 || lane.sealed && l.Class == wire.Mergeable {
		return false
	}
	last := lane.waiting[len(lane.waiting)-1]
	if last.Class != l.Class || last.Key != l.Key {
		return false
	}
	switch {
	case l.Class == wire.Mergeable && len(last.text+l.text) <= m.options.MergeBytes && m.roomFor(int64(len(l.text))):
		last.text += l.text
		return true
	case l.Class == wire.LatestWins && m.roomFor(l.size()-last.size()):
		lane.waiting[len(lane.waiting)-1] = l
		return true
	}
	return false
}

func (m *model) shedFor(lane *modelLane, l *modelLine) {
	for !m.roomFor(l.size()) {
		fattest, most := lane, eventBytes(lane.waiting)+l.size()
		for _, other := range m.order {
			if b := eventBytes(other.waiting); b > most {
				fattest, most = other, b
			}
		}
		m.drop(fattest)
		if fattest == lane {
			return
		}
		m.removeNewest(fattest)
	}
	m.enqueue(lane, l)
	lane.sealed = false
}

func (m *model) removeNewest(lane *modelLane) {
	for i, l := range slices.Backward(lane.waiting) {
		if l.event() {
			lane.waiting = slices.Delete(lane.waiting, i, i+1)
			break
		}
	}
	if len(lane.waiting) == 0 {
		m.order = slices.DeleteFunc(m.order, func(other *modelLane) bool { return other == lane })
	}
}

func (m *model) drop(lane *modelLane) {
	lane.delivery.Dropped++
	lane.sealed = true
	m.dropped++
}

// compose hands everything that waits to the output, once that is free.
func (m *model) compose() {
	if len(m.inFlight) > 0 {
		return
	}
	m.inFlight = m.waitingLines()
	m.queue = nil
	for _, lane := range m.order {
		lane.waiting = nil
	}
	m.order = nil
	for _, l := range m.inFlight {
		if l.lane != nil && !l.final {
			l.lane.delivery.Sent++
		}
		if l.Deferred != nil {
			m.output = l.Deferred.AppendTo(m.output, l.lane.delivery)
			continue
		}
		m.output = append(append(append(m.output, l.Head...), l.text...), l.Tail...)
	}
}
