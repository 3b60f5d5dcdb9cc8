package stdout

import "sluice/internal/wire"

// pageTarget is the size in bytes from which a page takes no further line. Lines never span pages;
// merging may grow the last line of a page beyond it.
const pageTarget = 32 << 10

// pageCapacity leaves room for one merged line of the default size, so that merging does not
// reallocate.
const pageCapacity = 66 << 10

// pagesKept bounds the free list: 64 pages are about 4 MiB.
const pagesKept = 64

// page holds the bytes of some consecutive lines of one mailbox.
type page struct {
	buf     []byte
	entries int // entries whose bytes are in buf; the page is recycled when none is left
}

// entry is one waiting line, or several guaranteed ones that were written side by side.
type entry struct {
	owner    *Lane
	page     *page         // nil for a deferred line
	deferred wire.Deferred // nil for an encoded line
	event    string        // the event's name, for the log
	at, size int           // the bytes page.buf[at:at+size]
	text     int           // bytes of text, of a mergeable line
	tail     int           // bytes after the text
	cost     int           // what the bounds count
	frames   int
	key      uint32
	class    wire.Class
}

func (e *entry) guaranteed() bool { return e.class == wire.Guaranteed }

// pages is the free list that mailboxes take pages from.
type pages struct{ free []*page }

func (p *pages) get(size int) *page {
	if n := len(p.free); n > 0 && size <= pageCapacity {
		pg := p.free[n-1]
		p.free = p.free[:n-1]
		return pg
	}
	return &page{buf: make([]byte, 0, max(size, pageCapacity))}
}

func (p *pages) put(pg *page) {
	if len(p.free) < pagesKept && cap(pg.buf) <= 2*pageCapacity {
		pg.buf = pg.buf[:0]
		p.free = append(p.free, pg)
	}
}

// mailbox is a FIFO of waiting lines. It is guarded by the sink's lock.
type mailbox struct {
	entries    ring
	last       *page // where the next line goes; nil when empty
	eventBytes int64 // cost of the events among the entries
	frames     int
	queued     bool // the mailbox stands in the sink's turn order
}

func (m *mailbox) empty() bool { return m.entries.len() == 0 }

// append adds a line at the end.
func (m *mailbox) append(p *pages, e entry, head, text, tail []byte) {
	if e.deferred == nil {
		e.size = len(head) + len(text) + len(tail)
		e.cost = e.size
		if m.last == nil || len(m.last.buf) >= pageTarget {
			m.last = p.get(e.size)
		}
		e.page, e.at = m.last, len(m.last.buf)
		e.text, e.tail = len(text), len(tail)
		e.page.buf = append(append(append(e.page.buf, head...), text...), tail...)
		e.page.entries++
	}
	e.frames = 1
	m.frames++
	if !e.guaranteed() {
		m.eventBytes += int64(e.cost)
	}
	m.entries.push(e)
}

// merge adds text to the last line.
func (m *mailbox) merge(text []byte) {
	e := m.entries.back()
	buf := e.page.buf
	tail := buf[len(buf)-e.tail:]
	// The tail is short, and is written anew behind the text.
	var keep [32]byte
	t := append(keep[:0], tail...)
	e.page.buf = append(append(buf[:len(buf)-e.tail], text...), t...)
	e.text += len(text)
	e.size += len(text)
	e.cost += len(text)
	m.eventBytes += int64(len(text))
}

// extend adds an encoded guaranteed line to the last entry, which is one too: a flood of replies
// then costs little more than its bytes.
func (m *mailbox) extend(line []byte) {
	e := m.entries.back()
	e.page.buf = append(e.page.buf, line...)
	e.size += len(line)
	e.cost += len(line)
	e.frames++
	m.frames++
}

// pop removes the first entry. Its page stays valid until release.
func (m *mailbox) pop() entry {
	e := m.entries.pop()
	m.frames -= e.frames
	if !e.guaranteed() {
		m.eventBytes -= int64(e.cost)
	}
	return e
}

// release gives back the bytes of an entry that was popped or removed.
func (m *mailbox) release(p *pages, e *entry) {
	if e.page == nil {
		return
	}
	e.page.entries--
	if e.page.entries > 0 {
		return
	}
	if e.page == m.last {
		m.last = nil
	}
	p.put(e.page)
}

// removeNewestEvent takes out the newest entry that is not guaranteed, wherever it stands.
func (m *mailbox) removeNewestEvent(p *pages) (entry, bool) {
	for i := m.entries.len() - 1; i >= 0; i-- {
		e := *m.entries.at(i)
		if e.guaranteed() {
			continue
		}
		m.entries.remove(i)
		m.frames -= e.frames
		m.eventBytes -= int64(e.cost)
		m.cut(i, &e)
		m.release(p, &e)
		return e, true
	}
	return entry{}, false
}

// cut takes the bytes of a removed entry out of its page; the entries behind it, from index i on,
// move up.
func (m *mailbox) cut(i int, removed *entry) {
	if removed.page == nil {
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
