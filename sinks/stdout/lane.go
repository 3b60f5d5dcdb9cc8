package stdout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/internal/wire"
)

// ErrEnded is what Push returns for frames that follow a request's final frame.
var ErrEnded = errors.New("stdout: the request has had its final frame")

// Lane is where one request's frames enter the sink. It is a wire.Stage, so that the stage before it
// calls it directly, and a go-streams Sink.
type Lane struct {
	sink *Sink
	id   wire.ID
	box  *mailbox // its own, or the shared one of the Drop policy

	// Guarded by the sink's lock.
	delivery wire.Delivery
	sealed   bool // an event was dropped: the next text starts a line, so that the gap shows
	ended    bool // the final frame was pushed
	reply    bool // the lane carries no events: its frames overtake

	inlet sync.Once
	in    chan any      // created by In
	done  chan struct{} // closed by Done
}

// Lane opens the lane of a request that has events.
func (s *Sink) Lane(id wire.ID) *Lane {
	l := &Lane{sink: s, id: id, box: &mailbox{}, done: make(chan struct{})}
	if s.options.Policy == Drop {
		l.box = &s.replies
	}
	return l
}

// Replies opens a lane for guaranteed frames of requests that have no events. They overtake the
// waiting events of other requests (but not with Drop) and keep their order among each other.
func (s *Sink) Replies() *Lane {
	return &Lane{sink: s, box: &s.replies, reply: true, done: make(chan struct{})}
}

// Push hands *wire.Frames to the sink and never waits for the reader. The frames' bytes are copied.
// It returns ErrEnded after the final frame, and an error for an element of any other type.
func (l *Lane) Push(_ context.Context, element any) error {
	frames, ok := element.(*wire.Frames)
	if !ok {
		return fmt.Errorf("stdout: a lane takes *wire.Frames, not %T", element)
	}
	return l.sink.accept(l, frames.Items, frames.Arrived)
}

// Put hands one frame to the sink, like Push.
func (l *Lane) Put(frame wire.Frame) error {
	one := [1]wire.Frame{frame}
	return l.sink.accept(l, one[:], time.Time{})
}

// Finish hands over the final frame of the request: guaranteed, last, once.
func (l *Lane) Finish(frame wire.Frame) error { return l.sink.finish(l, &frame) }

// counts reports whether the frame is an event's: neither a reply, which names no event, nor the lane's
// final frame, which is the one that comes when the lane has ended. The caller holds the sink's lock.
func (l *Lane) counts(f *wire.Frame) bool {
	return f.Class != wire.Guaranteed || f.Event != "" && !l.reply && !l.ended
}

// Delivery returns what became of the request's events so far.
func (l *Lane) Delivery() wire.Delivery {
	l.sink.mu.Lock()
	defer l.sink.mu.Unlock()
	return l.delivery
}

// Done says that the upstream stage pushes no more; the final frame is Finish's.
func (l *Lane) Done(error) { close(l.done) }

// In returns a channel for go-streams operators that are not ours.
func (l *Lane) In() chan<- any {
	l.inlet.Do(func() {
		l.in = make(chan any)
		go wire.FromChannel(context.Background(), l.in, l)
	})
	return l.in
}

// AwaitCompletion blocks until Done.
func (l *Lane) AwaitCompletion() { <-l.done }
