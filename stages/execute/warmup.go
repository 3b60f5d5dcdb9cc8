package execute

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/internal/wire"
)

func (e *Execute) warm(agent *Agent) wire.Reply {
	start := time.Now()
	var tools sync.WaitGroup
	defer tools.Wait()
	tools.Go(func() { // what is missing the first chat tells
		e.shielded(func() { e.options.Tools.List(e.ctx, agent.Tools, nil) })
	})
	if err := e.options.Models.Warm(e.ctx, agent.Model); err != nil {
		return e.faultOf(err)
	}
	return &wire.WarmupDone{Load: time.Since(start)}
}

// faultOf names why a request ended: its own fault, or that it was cancelled. Any other error is kept
// out of the answer, because nobody vouches that it holds no secret.
func (e *Execute) faultOf(err error) *wire.Fault {
	var fault *wire.Fault
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, errCancelled):
		return wire.NewFault(wire.CodeCancelled, "the request was cancelled")
	case e.ctx.Err() != nil:
		return wire.NewFault(wire.CodeCancelled, "the request was cancelled because the engine is shutting down")
	}
	e.options.Logger.Error("a request failed without saying why", "error", fmt.Sprintf("%T", err))
	return internal()
}
