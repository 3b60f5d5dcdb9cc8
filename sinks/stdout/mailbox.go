package stdout

import "sluice/internal/wire"

// entry is one waiting line, or a run of lines that were accepted side by side: replies of any
// requests, or with Drop the lines of one request.
type entry struct {
	owner      *Lane
	page       *page  // holds the bytes, or the deferred line
	event      string // the event's name, for the log
	at, size   int    // the bytes page.buf[at:at+size]; of a deferred line size is its cost
	shared     int    // the part of size that the bounds don't count, of a deferred line
	text, tail int32  // bytes of text and behind it, of a mergeable line
	frames     int32
	key        uint32
	class      wire.Class
	counted    bool // an event's line, which is among those that its request was sent
	followed   bool // its way to the reader is measured
}

func (e *entry) guaranteed() bool { return e.class == wire.Guaranteed }

// weight is what the bounds count for an entry, in bytes.
func (e *entry) weight() int64 { return int64(e.size - e.shared) }

// weight is what the bounds count for a frame, in bytes.
func weight(f *wire.Frame) int64 { return int64(cost(f) - f.Shared) }

// cost is the size of a frame's line, which of a deferred one is an estimate.
func cost(f *wire.Frame) int {
	if f.Deferred != nil {
		return f.Cost
	}
	return len(f.Head) + len(f.Text) + len(f.Tail)
}

// mailbox is a FIFO of waiting lines. It is guarded by the sink's lock.
type mailbox struct {
	entries    ring
	last       *page // where the next line goes; nil when empty
	eventBytes int64 // cost of the events among the entries
	frames     int   // lines among the entries

	// The mailbox's place in the turn order.
	queued bool
	next   *mailbox
	credit int // bytes left of its turn; negative when a long line took more than that
}

func (m *mailbox) empty() bool { return m.entries.len() == 0 }

// append adds a line of the lane at the end.
func (m *mailbox) append(p *pages, l *Lane, f *wire.Frame) {
	size := cost(f)
	e := m.entries.push()
	*e = entry{owner: l, event: f.Event, size: size, shared: f.Shared, frames: 1, key: f.Key, class: f.Class, counted: l.counts(f)}
	if f.Deferred != nil {
		e.page = &page{deferred: f.Deferred}
	} else {
		m.turn(p, f.Class, size)
		e.page, e.at = m.last, len(m.last.buf)
		e.text, e.tail = int32(len(f.Text)), int32(len(f.Tail))
		e.page.add(f)
	}
	e.page.entries++
	m.countLine(e, e.weight())
}

// extend adds an encoded line to the last entry: a flood of lines then costs little more than its
// bytes.
func (m *mailbox) extend(f *wire.Frame) {
	e, size := m.entries.back(), cost(f)
	e.page.add(f)
	e.size += size
	e.frames++
	m.countLine(e, int64(size))
}

func (m *mailbox) countLine(e *entry, weight int64) {
	m.frames++
	if !e.guaranteed() {
		m.eventBytes += weight
	}
}

// turn makes last a page with room for a line.
func (m *mailbox) turn(p *pages, class wire.Class, size int) {
	switch {
	case m.last == nil:
		m.last = p.first(size)
	case !m.last.fits(class, size):
		m.last = p.get(size)
	}
}

// merge adds text to the last line.
func (m *mailbox) merge(p *pages, text []byte) {
	e := m.entries.back()
	if e.page.small() && len(e.page.buf)+len(text) > cap(e.page.buf) {
		m.move(p, e)
	}
	buf := e.page.buf
	body := len(buf) - int(e.tail)
	// The tail is short, and is written anew behind the text.
	var short [32]byte
	tail := append(short[:0], buf[body:]...)
	e.page.buf = append(append(buf[:body], text...), tail...)
	e.text += int32(len(text))
	e.size += len(text)
	m.eventBytes += int64(len(text))
}

// move takes the last line from its small page to one where it can grow.
func (m *mailbox) move(p *pages, e *entry) {
	small := e.page
	e.page = p.get(e.size)
	e.page.entries++
	e.page.buf = append(e.page.buf, small.buf[e.at:]...)
	small.buf = small.buf[:e.at]
	e.at = 0
	m.last = e.page
	m.release(p, small)
}

// drop takes the first entry out and gives its page back.
func (m *mailbox) drop(p *pages) {
	e := m.entries.at(0)
	m.forget(e)
	m.release(p, e.page)
	m.entries.drop()
}

func (m *mailbox) forget(e *entry) {
	m.frames -= int(e.frames)
	if !e.guaranteed() {
		m.eventBytes -= e.weight()
	}
}

// release takes one entry less into a page, which is recycled with its last one.
func (m *mailbox) release(p *pages, pg *page) {
	pg.entries--
	if pg.entries > 0 {
		return
	}
	if pg == m.last {
		m.last = nil
	}
	p.put(pg)
}

// removeNewestEvent takes out the newest entry that is not guaranteed, wherever it stands. The
// mailbox holds one.
func (m *mailbox) removeNewestEvent(p *pages) entry {
	i := m.entries.len() - 1
	for m.entries.at(i).guaranteed() {
		i--
	}
	e := *m.entries.at(i)
	m.entries.remove(i)
	m.forget(&e)
	m.cut(i, &e)
	m.release(p, e.page)
	return e
}

// cut takes the bytes of a removed entry out of its page; the entries behind it, from index i on,
// move up.
func (m *mailbox) cut(i int, removed *entry) {
	if removed.page.deferred != nil {
		return
	}
	buf := removed.page.buf
	removed.page.buf = append(buf[:removed.at], buf[removed.at+removed.size:]...)
	for ; i < m.entries.len(); i++ {
		if e := m.entries.at(i); e.page == removed.page {
			e.at -= removed.size
		}
	}
}
