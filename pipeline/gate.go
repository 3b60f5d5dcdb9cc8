package pipeline

import (
	"context"

	"sluice/internal/wire"
)

// errReaderStuck ends what waits at the gate for a reader that takes nothing any more.
var errReaderStuck = wire.NewFault(wire.CodeCancelled, "the request was cancelled because nobody reads stdout; read it, or start a new engine")

// Gate waits while the reader owes us room for guaranteed frames. Stdin is not read meanwhile, so its
// end can't be seen; when the host has closed it all the same, EOFTimeout bounds the wait as it bounds
// the drain. Gate implements execute.Output.
func (p *Pipeline) Gate(ctx context.Context) error {
	if p.options.Sink.Open() {
		return nil
	}
	watch, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if p.options.InputEnded != nil {
		go p.watchGate(watch, cancel)
	}
	return p.options.Sink.Gate(watch)
}

// watchGate ends with its context, which it cancels when there is nothing left to wait for.
func (p *Pipeline) watchGate(ctx context.Context, cancel context.CancelCauseFunc) {
	select {
	case <-p.options.InputEnded(ctx):
	case <-ctx.Done():
		return
	}
	if p.options.Sink.Stuck(ctx, p.options.EOFTimeout) {
		cancel(errReaderStuck)
	}
}
