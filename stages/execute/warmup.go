package execute

import (
	"errors"
	"time"

	"sluice/internal/wire"
)

func (e *Execute) warm(agent *Agent) (reply wire.Reply) {
	defer func() {
		if fault := e.recovered(recover()); fault != nil {
			reply = fault
		}
	}()
	start := time.Now()
	if err := e.options.Models.Warm(e.ctx, agent.Model); err != nil {
		return faultOf(err)
	}
	return &wire.WarmupDone{Load: time.Since(start)}
}

// faultOf names why a request ended: its own fault, or that it was cancelled.
func faultOf(err error) *wire.Fault {
	var fault *wire.Fault
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, errCancelled):
		return wire.NewFault(wire.CodeCancelled, "the request was cancelled")
	}
	return wire.NewFault(wire.CodeCancelled, "the request was cancelled because the engine is shutting down")
}
