package stdout

import "sluice/internal/wire"

// lineRoom is what a merged line of the default size takes, with its head and tail.
const lineRoom = 33 << 10

// pageCapacity is the size in bytes of a page: two merged lines fit, so that a merge never
// reallocates and a stalled stream wastes little.
const pageCapacity = 2 * lineRoom

// smallCapacity is the size in bytes of an empty mailbox's first page: a request whose reader keeps up
// never needs more, and there may be hundreds of them.
const smallCapacity = 4 << 10

// pagesKept and smallKept bound the free lists: 64 pages are about 4 MiB, 512 small ones 2 MiB.
const (
	pagesKept = 64
	smallKept = 512
)

// page holds the bytes of some consecutive lines of one mailbox, none of which spans pages, or one
// deferred line.
type page struct {
	buf      []byte
	deferred wire.Deferred
	entries  int // entries whose bytes are in buf; the page is recycled when none is left
}

// fits reports whether the page has room for another line, and for what may be merged into it.
func (pg *page) fits(class wire.Class, size int) bool {
	if class == wire.Mergeable && !pg.small() {
		size = max(size, lineRoom)
	}
	return len(pg.buf)+size <= cap(pg.buf)
}

func (pg *page) small() bool { return cap(pg.buf) < pageCapacity }

func (pg *page) add(f *wire.Frame) {
	pg.buf = append(append(append(pg.buf, f.Head...), f.Text...), f.Tail...)
}

// pages are the free lists that mailboxes take pages from. They are guarded by the sink's lock.
type pages struct{ free, freeSmall []*page }

// get returns an empty page, a new one with room for a line of size bytes.
func (p *pages) get(size int) *page { return take(&p.free, max(size, pageCapacity)) }

// first returns a page for the first line of an empty mailbox.
func (p *pages) first(size int) *page {
	if size > smallCapacity {
		return p.get(size)
	}
	return take(&p.freeSmall, smallCapacity)
}

// take returns a page of the list, or a new one.
func take(list *[]*page, capacity int) *page {
	n := len(*list)
	if n == 0 {
		return &page{buf: make([]byte, 0, capacity)}
	}
	pg := (*list)[n-1]
	(*list)[n-1] = nil
	*list = (*list)[:n-1]
	return pg
}

// put keeps a page for later, unless it is a deferred line's, one that grew far, or one too many.
func (p *pages) put(pg *page) {
	if pg.deferred != nil || cap(pg.buf) > 2*pageCapacity {
		return
	}
	pg.buf = pg.buf[:0]
	if list, kept := p.listOf(pg); len(*list) < kept {
		*list = append(*list, pg)
	}
}

// listOf returns the free list of a page's size, and how many it keeps.
func (p *pages) listOf(pg *page) (list *[]*page, kept int) {
	if pg.small() {
		return &p.freeSmall, smallKept
	}
	return &p.free, pagesKept
}
