package stdout

// ringKept is the most entries that an empty ring keeps memory for.
const ringKept = 4096

// ring is a FIFO of entries in a slice whose length is a power of two.
type ring struct {
	slots       []entry
	first, used int
}

func (r *ring) len() int { return r.used }

// at returns the i-th entry from the front; the pointer is valid until the next push.
func (r *ring) at(i int) *entry { return &r.slots[(r.first+i)&(len(r.slots)-1)] }

// back returns the newest entry. The ring is not empty.
func (r *ring) back() *entry { return r.at(r.used - 1) }

// push adds an entry, for the caller to fill.
func (r *ring) push() *entry {
	if r.used == len(r.slots) {
		r.grow()
	}
	r.used++
	return r.back()
}

func (r *ring) grow() {
	bigger := make([]entry, max(8, 2*len(r.slots)))
	n := copy(bigger, r.slots[r.first:])
	copy(bigger[n:], r.slots[:r.first])
	r.slots, r.first = bigger, 0
}

// drop takes the front entry out.
func (r *ring) drop() {
	*r.at(0) = entry{}
	r.first = (r.first + 1) & (len(r.slots) - 1)
	r.used--
	if r.used == 0 && len(r.slots) > ringKept {
		r.slots, r.first = nil, 0
	}
}

// remove takes out the i-th entry; those behind it move up.
func (r *ring) remove(i int) {
	for ; i < r.used-1; i++ {
		*r.at(i) = *r.at(i + 1)
	}
	*r.back() = entry{}
	r.used--
}
