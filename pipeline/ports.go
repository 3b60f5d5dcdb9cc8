package pipeline

import (
	"context"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// Source is a go-streams Source that runs in the caller's goroutine and tells why it ended.
type Source interface {
	streams.Source
	// Run pushes until the end of the stream (nil), an error, or ctx ends (its cause).
	Run(ctx context.Context) error
}

// TokenSource is one model step's stream of *wire.Tokens.
type TokenSource interface {
	Source
	// Upstream is the time that Run spent waiting for the server.
	Upstream() time.Duration
}

// Lease is a slot of a model server that can be asked for a stream.
type Lease interface {
	execute.Lease
	Stream(request *wire.ModelRequest) TokenSource
}

// Models are the model servers; cmd provides them.
type Models interface {
	execute.Models
	// Close stops the servers that were spawned.
	Close(ctx context.Context) error
}

// Lane takes the frames of one request, in order.
type Lane interface {
	streams.Sink
	wire.Stage
	Put(frame wire.Frame) error
	Finish(frame wire.Frame) error
}

// Sink is the engine's stdout; cmd provides it.
type Sink interface {
	// Run is the writer.
	Run()
	// Lane opens the lane of a request that has events, Replies one for requests that have none.
	Lane(id wire.ID) Lane
	Replies() Lane
	// Gate waits while the reader owes us room for guaranteed frames.
	Gate(ctx context.Context) error
	// Gone is closed when the reader has gone.
	Gone() <-chan struct{}
	// Open reports whether Gate would not wait.
	Open() bool
	// Stuck waits until Gate has held and the reader taken nothing for patience; false when ctx ended.
	Stuck(ctx context.Context, patience time.Duration) bool
	// Close waits until everything was written, ctx ends, or the reader took nothing for patience.
	Close(ctx context.Context, patience time.Duration) error
	// Fill sets the sink's part of the counters.
	Fill(stats *wire.Stats)
}
