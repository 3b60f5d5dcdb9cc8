package host

import (
	"encoding/json"
	"strings"
)

// RPC sends a request of JSON-RPC and waits for its answer.
func (e *Engine) RPC(id, method string, params any) Message {
	e.t.Helper()
	e.SendRPC(id, method, params)
	return e.Wait("the answer to "+method, func(m Message) bool { return !m.Get("method").Exists() && m.Get("id").String() == id })
}

// SendRPC sends a request of JSON-RPC; one without an id is a notification.
func (e *Engine) SendRPC(id, method string, params any) {
	e.t.Helper()
	var line strings.Builder
	fields := map[string]any{"jsonrpc": "2.0", "method": method}
	if id != "" {
		fields["id"] = id
	}
	if params != nil {
		fields["params"] = params
	}
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(fields) // strings, numbers and maps of them always encode
	e.Raw(line.String())
}

// RPCResult sends a request of JSON-RPC and waits for its answer, which must be a result, and returns that.
func (e *Engine) RPCResult(id, method string, params any) Message {
	e.t.Helper()
	answer := e.RPC(id, method, params)
	if !answer.Get("result").Exists() {
		e.t.Fatalf("%s was answered %.2000s", method, answer.Raw)
	}
	return answer.Get("result")
}

// RPCError sends a request of JSON-RPC and waits for its answer, which must be an error of this number and
// code, and returns that.
func (e *Engine) RPCError(id, method string, params any, number int64, code string) Message {
	e.t.Helper()
	answer := e.RPC(id, method, params).Get("error")
	if answer.Get("code").Int() != number || answer.Get("data.code").Str != code || answer.Get("message").Str == "" {
		e.t.Errorf("%s was answered %.2000s", method, answer.Raw)
	}
	return answer
}

// Ended waits for the terminal notification of a stream.
func (e *Engine) Ended(stream string) Message {
	e.t.Helper()
	return e.Wait("the end of "+stream, func(m Message) bool { return isTerminal(m) && m.Get("params.streamId").Str == stream })
}

func isTerminal(m Message) bool {
	method := m.Get("method").Str
	return method == "chat/complete" || method == "chat/error"
}

// StreamEvents are the events of a stream that were read so far, in order.
func (e *Engine) StreamEvents(stream string) (events []Message) {
	for _, m := range e.Messages() {
		if m.Get("method").Str == "chat/event" && m.Get("params.streamId").Str == stream {
			events = append(events, m.Get("params.event"))
		}
	}
	return events
}

// StreamText is the concatenation of a stream's texts so far.
func (e *Engine) StreamText(stream string) string {
	var text strings.Builder
	for _, event := range e.StreamEvents(stream) {
		if event.Get("kind").Str == "text" {
			text.WriteString(event.Get("content").Str)
		}
	}
	return text.String()
}
