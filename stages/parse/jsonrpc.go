package parse

import (
	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// JSONRPC parses JSON-RPC v1 (protocol-jsonrpc-v1): JSON-RPC 2.0 messages on lines, without batches.
type JSONRPC struct {
	// MaxLineBytes is named in the message about a line that was too long.
	MaxLineBytes int
	batch        wire.Requests
}

// Apply parses a batch of lines. The requests are valid until the next call.
func (p *JSONRPC) Apply(lines *wire.Lines) *wire.Requests {
	p.batch.Items = p.batch.Items[:0]
	for i := range lines.Items {
		p.batch.Items = append(p.batch.Items, p.request(&lines.Items[i]))
	}
	return &p.batch
}

func (p *JSONRPC) request(line *wire.Line) wire.Request {
	r := wire.Request{Size: len(line.Bytes)}
	if r.Fault = checkLine(line, p.MaxLineBytes); r.Fault != nil {
		return r
	}
	message := gjson.Parse(view(line.Bytes))
	switch {
	case message.IsArray():
		r.Fault = wire.NewFault(wire.CodeInvalidRequest, "batches are not served; send each request as a line of its own")
	case !message.IsObject():
		r.Fault = wire.NewFault(wire.CodeInvalidRequest, "the line is JSON but no object; send a JSON-RPC 2.0 request")
	default:
		readMessage(&r, message)
	}
	return r
}

// rpcMembers are the members that a JSON-RPC message may have once.
type rpcMembers struct {
	members
	version member
}

func readMessage(r *wire.Request, message gjson.Result) {
	var m rpcMembers
	message.ForEach(func(key, value gjson.Result) bool {
		slot := m.slot(key.Str)
		if key.Str == "jsonrpc" {
			slot = &m.version
		}
		if slot != nil {
			slot.count++
			slot.value = value
		}
		return true
	})
	r.Notification = m.id.count == 0
	if m.id.count == 1 && isRPCID(m.id.value) {
		r.ID = wire.ID(m.id.value.Raw)
	}
	r.Fault = m.takeMessage(r)
}

// takeMessage moves the members into the request, or says what is wrong with them.
func (m *rpcMembers) takeMessage(r *wire.Request) *wire.Fault {
	name := m.twice()
	if m.version.count > 1 {
		name = "jsonrpc"
	}
	switch {
	case name != "":
		return standsTwice(name)
	case !r.Notification && r.ID == "":
		return wire.NewFault(wire.CodeInvalidRequest, "id is neither a string, a number nor null")
	case m.version.value.Type != gjson.String || m.version.value.Str != "2.0":
		return wire.NewFault(wire.CodeInvalidRequest, "jsonrpc is not \"2.0\"; send JSON-RPC 2.0")
	}
	return m.takeCall(r, "health")
}

// isRPCID reports whether a value is of the kinds that an id may be (protocol-jsonrpc-v1, section 1).
func isRPCID(v gjson.Result) bool { return isID(v) || v.Type == gjson.Null }
