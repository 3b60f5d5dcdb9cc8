package execute

import (
	"fmt"
	"runtime/debug"

	"sluice/internal/wire"
)

// recovered turns a panic into the fault of the one request that met it.
func (e *Execute) recovered(p any) *wire.Fault {
	if p == nil {
		return nil
	}
	e.options.Logger.Error("ERROR_STACKTRACE", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return internal()
}

// shielded runs what is done beside a request, in a goroutine of its own: a panic in it ends nothing else.
func (e *Execute) shielded(f func()) {
	defer func() { e.recovered(recover()) }()
	f()
}

func internal() *wire.Fault {
	return wire.NewFault(wire.CodeInternal, "an internal error ended this request; the log has the details, please report it")
}
