// Package route finds the method of a request, one table per protocol.
//
// Concurrency law: plain functions; no goroutine, channel, lock, clock or I/O.
package route

import (
	"fmt"

	"sluice/internal/wire"
)

// table maps the names of one protocol to methods.
type table struct {
	methods map[string]wire.Method
	// known lists the names for people.
	known string
}

// apply sets the Method of each request that has no fault yet.
func (t table) apply(batch *wire.Requests) *wire.Requests {
	for i := range batch.Items {
		r := &batch.Items[i]
		if r.Fault == nil {
			r.Method, r.Fault = t.find(r.Name)
		}
	}
	return batch
}

func (t table) find(name string) (wire.Method, *wire.Fault) {
	if method, ok := t.methods[name]; ok {
		return method, nil
	}
	// A name may be as long as a line: an error repeats 64 characters of it.
	return wire.MethodUnknown, wire.NewFault(wire.CodeUnknownMethod, fmt.Sprintf("unknown method \"%.64s\"; this build serves %s", name, t.known))
}
