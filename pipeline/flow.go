package pipeline

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
)

// Counter counts what one stage did, over all its Flows.
type Counter struct {
	name  string
	items atomic.Int64
	busy  atomic.Int64 // nanoseconds
}

func (c *Counter) stats() wire.StageStats {
	return wire.StageStats{Name: c.name, Count: c.items.Load(), Busy: time.Duration(c.busy.Load())}
}

// Flow runs a pure stage as a go-streams Flow. Handed to Via or To of another operator of ours it
// fuses: the two run as direct calls in the goroutine of the source. To a foreign operator it sends
// over a channel.
type Flow[In, Out wire.Batch] struct {
	counter *Counter
	apply   func(In) Out
	flush   func() Out    // nil for a stage without an end
	next    wire.Stage    // set by Via, To or Out
	joined  chan struct{} // closed when next is set

	inlet sync.Once
	in    chan any
	out   chan any
}

// NewFlow returns a Flow of apply. flush, when not nil, is called once at the end, and what it
// returns is handed on.
func NewFlow[In, Out wire.Batch](counter *Counter, apply func(In) Out, flush func() Out) *Flow[In, Out] {
	return &Flow[In, Out]{counter: counter, apply: apply, flush: flush, joined: make(chan struct{})}
}

// Push applies the stage to a batch and hands the result on when it holds anything. It returns an
// error for an element of any other type, which only a foreign operator can send.
func (f *Flow[In, Out]) Push(ctx context.Context, element any) error {
	batch, ok := element.(In)
	if !ok {
		return fmt.Errorf("pipeline: the stage %s takes %T, not %T", f.counter.name, batch, element)
	}
	start := time.Now()
	out := f.apply(batch)
	f.counter.busy.Add(int64(time.Since(start)))
	f.counter.items.Add(int64(batch.Len()))
	if out.Len() == 0 {
		return nil
	}
	return f.next.Push(ctx, out)
}

// Done flushes the stage and passes the end on.
func (f *Flow[In, Out]) Done(cause error) {
	if f.flush != nil {
		if out := f.flush(); out.Len() > 0 {
			if err := f.next.Push(context.Background(), out); cause == nil {
				cause = err
			}
		}
	}
	f.next.Done(cause)
}

// Via makes flow the next operator and returns it.
func (f *Flow[In, Out]) Via(flow streams.Flow) streams.Flow {
	f.join(wire.Downstream(flow))
	return flow
}

// To makes sink the last operator. Unlike go-streams' own flows it doesn't block: the graph runs when
// its source does.
func (f *Flow[In, Out]) To(sink streams.Sink) { f.join(wire.Downstream(sink)) }

func (f *Flow[In, Out]) join(next wire.Stage) {
	f.next = next
	close(f.joined)
}

// In returns a channel for a foreign operator in front of this one. Foreign operators run from the
// moment they are connected: what they send waits until the graph goes on behind this one.
func (f *Flow[In, Out]) In() chan<- any {
	f.inlet.Do(func() {
		f.in = make(chan any)
		go func() {
			f.awaitJoined()
			wire.FromChannel(context.Background(), f.in, f)
		}()
	})
	return f.in
}

// awaitJoined waits until the graph is joined up to the next channel or sink.
func (f *Flow[In, Out]) awaitJoined() {
	<-f.joined
	if next, ours := f.next.(interface{ awaitJoined() }); ours {
		next.awaitJoined()
	}
}

// Out returns a channel for a foreign operator behind this one.
func (f *Flow[In, Out]) Out() <-chan any {
	if f.out == nil {
		f.out = make(chan any)
		f.join(wire.ToChannel(f.out))
	}
	return f.out
}
