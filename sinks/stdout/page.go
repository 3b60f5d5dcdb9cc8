package stdout

import "sluice/internal/wire"

// lineRoom is what a merged line of the default size takes, with its head and tail.
const lineRoom = 33 << 10

// pageCapacity is the size in bytes of a page: two merged lines fit, so that a merge never
// reallocates and a stalled stream wastes little.
const pageCapacity = 2 * lineRoom

// pagesKept bounds the free list: 64 pages are about 4 MiB.
const pagesKept = 64

// page holds the bytes of some consecutive lines of one mailbox, none of which spans pages, or one
// deferred line.
type page struct {
	buf      []byte
	deferred wire.Deferred
	entries  int // entries whose bytes are in buf; the page is recycled when none is left
}

// fits reports whether the page has room for another line, and for what may be merged into it.
func (pg *page) fits(class wire.Class, size int) bool {
	if class == wire.Mergeable {
		size = max(size, lineRoom)
	}
	return len(pg.buf)+size <= cap(pg.buf)
}

func (pg *page) add(f *wire.Frame) {
	pg.buf = append(append(append(pg.buf, f.Head...), f.Text...), f.Tail...)
}

// pages is the free list that mailboxes take pages from. It is guarded by the sink's lock.
type pages struct{ free []*page }

// get returns an empty page, a new one with room for a line of size bytes.
func (p *pages) get(size int) *page {
	if n := len(p.free); n > 0 {
		pg := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		return pg
	}
	return &page{buf: make([]byte, 0, max(size, pageCapacity))}
}

// put keeps a page for later, unless it is a deferred line's, one that grew far, or one too many.
func (p *pages) put(pg *page) {
	if pg.deferred == nil && len(p.free) < pagesKept && cap(pg.buf) <= 2*pageCapacity {
		pg.buf = pg.buf[:0]
		p.free = append(p.free, pg)
	}
}
