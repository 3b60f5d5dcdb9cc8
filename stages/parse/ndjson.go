package parse

import (
	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// NDJSON parses NDJSON v1 (protocol-ndjson-v1, section "Message format").
type NDJSON struct {
	// MaxLineBytes is named in the message about a line that was too long.
	MaxLineBytes int
	batch        wire.Requests
}

// Apply parses a batch of lines. The requests are valid until the next call.
func (p *NDJSON) Apply(lines *wire.Lines) *wire.Requests {
	p.batch.Items = p.batch.Items[:0]
	for i := range lines.Items {
		p.batch.Items = append(p.batch.Items, p.request(&lines.Items[i]))
	}
	return &p.batch
}

func (p *NDJSON) request(line *wire.Line) wire.Request {
	r := wire.Request{Size: len(line.Bytes)}
	if r.Fault = checkLine(line, p.MaxLineBytes); r.Fault != nil {
		return r
	}
	message := gjson.Parse(view(line.Bytes))
	if !message.IsObject() {
		r.Fault = wire.NewFault(wire.CodeInvalidRequest, "the line is JSON but no object; send an object with id, method and params")
		return r
	}
	readMembers(&r, message)
	return r
}

// members are the ones that a request may have once.
type members struct{ id, method, params member }

// member is the last value of a member and how often it stands in the message.
type member struct {
	value gjson.Result
	count int
}

func readMembers(r *wire.Request, message gjson.Result) {
	var m members
	message.ForEach(func(key, value gjson.Result) bool {
		if slot := m.slot(key.Str); slot != nil {
			slot.count++
			slot.value = value
		}
		return true
	})
	if m.id.count == 1 && isID(m.id.value) {
		r.ID = wire.ID(m.id.value.Raw)
	}
	r.Fault = m.take(r)
}

func (m *members) slot(key string) *member {
	switch key {
	case "id":
		return &m.id
	case "method":
		return &m.method
	case "params":
		return &m.params
	}
	return nil
}

// take moves the members into the request, or says what is wrong with them.
func (m *members) take(r *wire.Request) *wire.Fault {
	if name := m.twice(); name != "" {
		return standsTwice(name)
	}
	if r.ID == "" {
		return wire.NewFault(wire.CodeInvalidRequest, "id is missing or is neither a string nor a number; give every request one")
	}
	return m.takeCall(r, "ping")
}

// twice names a member that stands more than once, or nothing.
func (m *members) twice() string {
	switch {
	case m.id.count > 1:
		return "id"
	case m.method.count > 1:
		return "method"
	case m.params.count > 1:
		return "params"
	}
	return ""
}

// isID reports whether a value is of the kinds that an id may be.
func isID(v gjson.Result) bool { return v.Type == gjson.String || v.Type == gjson.Number }
