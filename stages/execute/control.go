package execute

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/wire"
)

// protocolVersion is the version of NDJSON that this build speaks.
const protocolVersion = 1

// offered are the extensions of this build.
var offered = []string{"offsets", "reasoning", "progress", "approval"}

var pong wire.Pong

func (e *Execute) initialize(p *wire.InitializeParams) wire.Reply {
	if p.Versions != nil && !slices.Contains(p.Versions, protocolVersion) {
		return wire.NewFault(wire.CodeInvalidRequest, "none of params.protocol_versions is supported; this build speaks version 1")
	}
	e.mu.Lock()
	e.extensions = Extensions{
		Offsets:   slices.Contains(p.Extensions, "offsets"),
		Reasoning: slices.Contains(p.Extensions, "reasoning"),
		Progress:  slices.Contains(p.Extensions, "progress"),
		Approval:  slices.Contains(p.Extensions, "approval"),
	}
	e.mu.Unlock()
	return &wire.Initialized{
		ProtocolVersion:  protocolVersion,
		ServerVersion:    e.options.Version,
		MaxParallelChats: e.options.MaxParallelChats,
		Lossless:         e.options.Lossless,
		Extensions:       offered,
	}
}

// cancel ends one chat: the named one, or the only one.
func (e *Execute) cancel(p *wire.CancelParams) wire.Reply {
	target := wire.ID(strings.Clone(string(p.Target)))
	if target == "" {
		only, count := e.chats.only()
		if count > 1 {
			return wire.NewFault(wire.CodeInvalidRequest, "several chats are active; name one in params.request_id")
		}
		target = only
	}
	if target == "" || !e.chats.cancel(target) {
		return &wire.CancelDone{}
	}
	return &wire.CancelDone{Cancelled: true, Target: target}
}

// Stats returns the engine's counters of this moment.
func (e *Execute) Stats() *wire.Stats {
	s := e.options.Stats()
	s.Chats = e.chats.stats()
	s.Requests = e.answers.stats()
	return s
}

// agent finds an agent by name; the empty name stands for the first one.
func (e *Execute) agent(name string) (*Agent, *wire.Fault) {
	if e.options.Unconfigured != nil {
		return nil, e.options.Unconfigured
	}
	var names []string
	for i := range e.options.Agents {
		a := &e.options.Agents[i]
		if name == "" || a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return nil, wire.NewFault(wire.CodeInvalidRequest, "no agent is configured; add one to agents in the configuration")
	}
	return nil, wire.NewFault(wire.CodeInvalidRequest, fmt.Sprintf("unknown agent \"%.64s\"; configured are %s", name, strings.Join(names, ", ")))
}

// acceptWarmup starts a model's server without a chat.
func (e *Execute) acceptWarmup(r *wire.Request) {
	agent, fault := e.agent(r.Params.(*wire.WarmupParams).Agent)
	if fault != nil {
		e.reply(r.Method, r.ID, fault)
		return
	}
	e.beside(r, func() wire.Reply { return e.warm(agent) })
}

// beside answers a request in a goroutine of its own, whatever chats run or wait.
func (e *Execute) beside(r *wire.Request, answer func() wire.Reply) {
	if !e.queue.hold(r.Size) {
		e.reply(r.Method, r.ID, overloaded())
		return
	}
	if !e.begin() {
		e.queue.drop(r.Size)
		e.reply(r.Method, r.ID, stopping())
		return
	}
	id, size, method := wire.ID(strings.Clone(string(r.ID))), r.Size, r.Method
	go func() {
		defer e.running.Done()
		defer e.queue.drop(size)
		e.reply(method, id, e.guarded(answer))
	}()
}

// guarded turns a panic into the fault of the request that met it.
func (e *Execute) guarded(answer func() wire.Reply) (reply wire.Reply) {
	defer func() {
		if fault := e.recovered(recover()); fault != nil {
			reply = fault
		}
	}()
	return answer()
}
