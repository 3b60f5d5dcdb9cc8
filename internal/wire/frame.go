package wire

import "time"

// Class says what the sink owes a frame.
type Class uint8

// The delivery classes.
const (
	// Guaranteed frames are never dropped: results and errors.
	Guaranteed Class = iota + 1
	// Mergeable frames carry text that may join a waiting frame of the same key.
	Mergeable
	// LatestWins frames replace a waiting frame of the same key.
	LatestWins
	// BestEffort frames wait like others and may be dropped when the bound is reached.
	BestEffort
)

// Delivery is what became of a request's events, counted by the sink.
type Delivery struct {
	// Sent counts event lines handed to stdout, Merged chunks that joined a waiting line and events of
	// which only the latest counts that a later one replaced, Dropped events that were given up. Every
	// event is in exactly one of them once its request has ended.
	Sent, Merged, Dropped int64
}

// Deferred is a line that is encoded when the writer takes it, because it tells what happened until
// then, or because it is large.
type Deferred interface {
	// AppendTo appends the encoded line with its newline. It is called once, by the writer, without
	// any lock of the sink held.
	AppendTo(dst []byte, d Delivery) []byte
}

// Frame is one line for the sink: Head, Text and Tail joined, or what Deferred appends.
type Frame struct {
	Class Class
	// Key says which Mergeable and LatestWins frames of one request belong together.
	Key uint32
	// Head, Text and Tail make the line with its newline. Only Mergeable frames have a Text: what
	// merging joins. All are borrowed until the Push returns.
	Head, Text, Tail []byte
	// Deferred, when set, stands in place of Head, Text and Tail. Cost is about how many bytes it
	// will append; the bounds count it so.
	Deferred Deferred
	Cost     int
	// Shared is how much of Cost is memory that waits anyway, for another frame of the request: the
	// bounds on what waits don't count it.
	Shared int
	// Event is the name that the log gives when the frame is dropped; empty of a frame that is no event.
	Event string
}

// Frames is the batch that encode emits.
type Frames struct {
	Items []Frame
	// Arrived is when what the frames were made of arrived; zero when nobody asks.
	Arrived time.Time
}

// Reset empties the batch and keeps its memory.
func (f *Frames) Reset() { f.Items = f.Items[:0] }
