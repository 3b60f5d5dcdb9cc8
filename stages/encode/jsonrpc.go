package encode

import "sluice/internal/wire"

// JSONRPC renders JSON-RPC v1 (protocol-jsonrpc-v1 and xgen-gateway).
type JSONRPC struct {
	// ASCII escapes everything outside ASCII.
	ASCII bool
}

// numbers are the error numbers (protocol-jsonrpc-v1, section "Errors"); every other code is an engine error.
var numbers = map[wire.Code]int64{
	wire.CodeInvalidJSON:    -32700,
	wire.CodeInvalidRequest: -32600,
	wire.CodeUnknownMethod:  -32601,
	wire.CodeInvalidParams:  -32602,
	wire.CodeNotInitialized: -32002,
	wire.CodeOverloaded:     -32001,
}

const engineError = -32000

// AppendReply appends the line that ends a request, with its newline; for a chat, whose id is that of its
// stream, the terminal notification.
func (p JSONRPC) AppendReply(dst []byte, id wire.ID, reply wire.Reply, d wire.Delivery) []byte {
	switch r := reply.(type) {
	case *wire.ChatDone:
		return append(p.terminal(dst, id, r, d), "}}\n"...)
	case *wire.Fault:
		dst = append(p.begin(dst, id), `,"error":{"code":`...)
		number, standard := numbers[r.Code]
		if !standard {
			number = engineError
		}
		dst = append(wire.AppendInt(dst, number), `,"message":`...)
		dst = append(wire.AppendString(dst, r.Message, p.ASCII), `,"data":`...)
		return append(p.faultData(dst, r), "}}\n"...)
	}
	dst = append(p.begin(dst, id), `,"result":`...)
	return append(p.result(dst, reply), "}\n"...)
}

func (p JSONRPC) begin(dst []byte, id wire.ID) []byte {
	return wire.AppendID(append(dst, `{"jsonrpc":"2.0","id":`...), id, p.ASCII)
}

// faultData appends the stable word of an error and what is known besides.
func (p JSONRPC) faultData(dst []byte, f *wire.Fault) []byte {
	dst = append(append(append(dst, `{"code":"`...), f.Code...), '"')
	if f.Status != 0 {
		dst = append(wire.AppendInt(append(dst, `,"details":{"status":`...), int64(f.Status)), '}')
	}
	return append(dst, '}')
}

// terminal appends the notification that ends a stream, less two braces. Only where events were given up
// it tells how many, which is no part of the protocol.
func (p JSONRPC) terminal(dst []byte, stream wire.ID, r *wire.ChatDone, d wire.Delivery) []byte {
	method := "chat/complete"
	if r.Fault != nil {
		method = "chat/error"
	}
	dst = append(append(append(dst, `{"jsonrpc":"2.0","method":"`...), method...), `","params":{"streamId":`...)
	dst = wire.AppendID(dst, stream, p.ASCII)
	if d.Dropped > 0 {
		dst = wire.AppendInt(append(dst, `,"dropped":`...), d.Dropped)
	}
	if r.Fault == nil {
		return wire.AppendString(append(dst, `,"interactionId":`...), r.SessionID, p.ASCII)
	}
	dst = append(append(append(dst, `,"error":{"code":"`...), r.Fault.Code...), `","message":`...)
	dst = wire.AppendString(dst, r.Fault.Message, p.ASCII)
	if r.Fault.Status != 0 {
		dst = p.faultData(append(dst, `,"data":`...), r.Fault)
	}
	return append(dst, '}')
}

// result appends the value of a result. What has none is null.
func (p JSONRPC) result(dst []byte, reply wire.Reply) []byte {
	switch r := reply.(type) {
	case *wire.Handshake:
		return p.handshake(dst, r)
	case *wire.Health:
		return append(wire.AppendInt(append(dst, `{"ok":true,"activeChats":`...), int64(r.ActiveChats)), '}')
	case *wire.Stats:
		return NDJSON(p).stats(dst, r)
	case *wire.ChatStarted:
		return p.started(dst, r)
	case *wire.CancelDone:
		return append(wire.AppendBool(append(dst, `{"cancelled":`...), r.Cancelled), '}')
	case *wire.StopResult:
		return stopResult(dst, r)
	case *wire.Profile:
		return p.profile(dst, r)
	case *wire.ProfileList:
		return list(dst, r.Items, p.profile)
	case *wire.AuthStatus:
		return p.authStatus(dst, r)
	case *wire.LogoutDone:
		return append(dst, `{"ok":true}`...)
	}
	return p.listed(dst, reply)
}

// listed appends the results that are lists of agents, history or tools.
func (p JSONRPC) listed(dst []byte, reply wire.Reply) []byte {
	switch r := reply.(type) {
	case *wire.AgentPage:
		return p.agentPage(dst, r)
	case *wire.ConversationList:
		return list(dst, r.Items, p.conversation)
	case *wire.TurnList:
		return list(dst, r.Items, p.turn)
	case *wire.Snapshot:
		dst = list(append(dst, `{"turns":`...), r.Turns, p.turn)
		return append(wire.AppendBool(append(dst, `,"running":`...), r.Running), '}')
	case *wire.ToolList:
		return list(dst, r.Items, p.tool)
	case *wire.ToolsStatus:
		return p.toolsStatus(dst, r)
	}
	return append(dst, "null"...)
}

func (p JSONRPC) handshake(dst []byte, r *wire.Handshake) []byte {
	dst = wire.AppendInt(append(dst, `{"protocolVersion":`...), r.ProtocolVersion)
	dst = wire.AppendString(append(dst, `,"server":{"name":"sluice","version":`...), r.ServerVersion, p.ASCII)
	return append(dst, `},"capabilities":{"profiles":true,"authentication":["password"],"agents":true,"chatStreaming":true,`+
		`"chatCancellation":true,"history":true,"localTools":true}}`...)
}

func (p JSONRPC) started(dst []byte, r *wire.ChatStarted) []byte {
	dst = wire.AppendID(append(dst, `{"streamId":`...), r.Stream, p.ASCII)
	dst = p.member(dst, `,"interactionId":`, r.InteractionID)
	dst = p.member(dst, `,"workflowId":`, r.WorkflowID)
	return append(p.member(dst, `,"workflowName":`, r.WorkflowName), '}')
}

func stopResult(dst []byte, r *wire.StopResult) []byte {
	dst = wire.AppendBool(append(dst, `{"cancelled":`...), r.Cancelled)
	dst = wire.AppendBool(append(dst, `,"stopped":`...), r.Stopped)
	if r.Reason != wire.StopDone {
		dst = append(append(append(dst, `,"reason":"`...), r.Reason...), '"')
	}
	return append(dst, '}')
}

// member appends a member that is a string; name is the comma, the quoted name and the colon.
func (p JSONRPC) member(dst []byte, name, value string) []byte {
	return wire.AppendString(append(dst, name...), value, p.ASCII)
}

// list appends a JSON array.
func list[T any](dst []byte, items []T, one func([]byte, *T) []byte) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, &items[i])
	}
	return append(dst, ']')
}
