package execute

import (
	"fmt"
	"strings"

	"sluice/internal/wire"
)

// rpcVersion is the version of JSON-RPC v1 that this build speaks.
const rpcVersion = 1

// serveRPC handles one message of JSON-RPC and reports whether more may follow.
func (e *Execute) serveRPC(r *wire.Request) (more bool) {
	if fault := e.unservable(r); fault != nil {
		e.answer(r, fault)
		return true
	}
	switch r.Method {
	case wire.MethodHandshake:
		e.answer(r, e.handshake(r.Params.(*wire.HandshakeParams)))
	case wire.MethodHealth:
		e.answer(r, &wire.Health{ActiveChats: e.chats.streams()})
	case wire.MethodStats:
		e.answer(r, e.Stats())
	case wire.MethodChatCancel:
		stream := r.Params.(*wire.StreamParams).Stream
		e.answer(r, &wire.CancelDone{Cancelled: e.chats.cancel(stream)})
	case wire.MethodChatStart:
		e.acceptStream(r)
	case wire.MethodChatStop:
		e.acceptStop(r)
	case wire.MethodShutdown, wire.MethodExit:
		if !r.Notification {
			e.promiseFarewell(r.ID)
		}
		return false
	default:
		e.answerAside(r, asides[r.Method])
	}
	return true
}

// unservable returns why a message can't be served; nil when it can. Before initialize only what can't be
// read is told apart from the rest.
func (e *Execute) unservable(r *wire.Request) *wire.Fault {
	malformed := r.Fault != nil && (r.Fault.Code == wire.CodeInvalidJSON || r.Fault.Code == wire.CodeInvalidRequest)
	allowed := e.initialized || r.Method == wire.MethodHandshake || r.Method == wire.MethodExit && r.Notification
	switch {
	case !malformed && !allowed:
		return wire.NewFault(wire.CodeNotInitialized, "the first request must be initialize with params.protocolVersion 1; send it, then this one again")
	case r.Fault == nil && r.Notification && (r.Method == wire.MethodHandshake || r.Method == wire.MethodChatStart):
		return wire.NewFault(wire.CodeInvalidRequest, "it needs an id: nobody would see its answer")
	}
	return r.Fault
}

// answer hands over the reply to a message; that to a notification nobody gets to see.
func (e *Execute) answer(r *wire.Request, reply wire.Reply) {
	if !r.Notification {
		e.reply(r.Method, r.ID, reply)
		return
	}
	fault, _ := reply.(*wire.Fault)
	e.answers.add(r.Method, fault)
	if fault != nil {
		e.options.Logger.Debug("a notification came to nothing", "method", methods[r.Method], "code", string(fault.Code), "reason", fault.Message)
	}
}

func (e *Execute) handshake(p *wire.HandshakeParams) wire.Reply {
	if p.Version != rpcVersion {
		return wire.NewFault(wire.CodeProtocolMismatch, fmt.Sprintf("this build speaks version %d of the protocol, not %d; start one that does, or initialize with %d", rpcVersion, p.Version, rpcVersion))
	}
	e.initialized = true
	return &wire.Handshake{ProtocolVersion: rpcVersion, ServerVersion: e.options.Version}
}

// promiseFarewell keeps the id of a shutdown request, which Farewell answers.
func (e *Execute) promiseFarewell(id wire.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shutdown = append(e.shutdown, wire.ID(strings.Clone(string(id))))
}
