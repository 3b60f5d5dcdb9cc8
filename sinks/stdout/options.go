package stdout

import (
	"cmp"
	"log/slog"
	"math"
	"time"

	"sluice/internal/wire"
)

// Policy says what happens to events when the reader is slower than the model.
type Policy uint8

// The values of output.on_full.
const (
	// Coalesce merges text into the waiting line of its request.
	Coalesce Policy = iota
	// Drop is NDJSON v1 to the letter: a bounded FIFO from whose end arriving events are dropped.
	Drop
)

// Options are the sink's bounds; the zero value of each stands for its default. Sizes are in bytes.
type Options struct {
	Policy Policy
	// PendingBytes bounds the events that wait, in flight included: 64 MiB.
	PendingBytes int64
	// MergeBytes bounds the text of a merged line: 32 KiB.
	MergeBytes int
	// QueueFrames bounds the shared FIFO of the Drop policy: 1,024 frames.
	QueueFrames int
	// GuaranteedBytes is how many bytes of guaranteed frames may wait before Gate holds: 64 MiB.
	GuaranteedBytes int64
	// StallThreshold is the duration from which a write counts as a stall: 250 ms.
	StallThreshold time.Duration
	// TryWrite, when set, writes as much of p as the output takes at once, and never waits. It returns
	// how many bytes that were. A producer that finds the sink idle writes a small piece with it, which
	// saves the writer's wake-up; whatever is left is the writer's.
	TryWrite func(p []byte) int
	// Unread, when set, returns how many written bytes the reader has not taken from the kernel yet,
	// so that Close sees a reader's progress inside a single blocked write.
	Unread func() (int, bool)
	// OnWrite, when set, is told of each write: how long it took, and how long before its end a batch
	// that it carried had arrived (wire.Frames.Arrived; one at a time is followed), 0 when none had.
	OnWrite func(took, added time.Duration)
	// OnStall, when set, is told of each write that took at least StallThreshold, once it has ended. Both
	// are called without the sink's lock, by whoever wrote, and must not wait.
	OnStall func(stall wire.Stall)
	// Logger gets a line at debug for each drop and one line when the reader has gone; nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.PendingBytes = cmp.Or(o.PendingBytes, 64<<20)
	o.MergeBytes = min(cmp.Or(o.MergeBytes, 32<<10), math.MaxInt32) // what an entry can count
	o.QueueFrames = cmp.Or(o.QueueFrames, 1024)
	o.GuaranteedBytes = cmp.Or(o.GuaranteedBytes, 64<<20)
	o.StallThreshold = cmp.Or(o.StallThreshold, 250*time.Millisecond)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
