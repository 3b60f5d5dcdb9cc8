package encode

import "sluice/internal/wire"

// Stream encodes the events of one stream as chat/event notifications (protocol-jsonrpc-v1, section "Chat";
// the kinds are those of xgen-gateway). What the protocol has no event for is left out.
type Stream struct {
	ascii  bool
	frames wire.Frames
	buf    []byte
	// prefix is a line up to its event, text up to the text of an event of text.
	prefix, text, tail []byte
	// remembering says that the memory was told to run, and nothing of its end.
	remembering bool
}

const (
	eventName     = "chat/event"
	eventTextTail = "\"}}}\n"
	eventTail     = "}}\n"
)

// Events returns the encoder of one stream's events.
func (p JSONRPC) Events(stream wire.ID) *Stream {
	prefix := wire.AppendID([]byte(`{"jsonrpc":"2.0","method":"chat/event","params":{"streamId":`), stream, p.ASCII)
	prefix = append(prefix, `,"event":`...)
	return &Stream{
		ascii: p.ASCII, prefix: prefix, tail: []byte(eventTextTail),
		text: append(prefix[:len(prefix):len(prefix)], `{"kind":"text","content":"`...),
	}
}

// Apply encodes a batch. The frames and their bytes are valid until the next call.
func (s *Stream) Apply(events *wire.Events) *wire.Frames {
	s.frames.Reset()
	s.buf = s.buf[:0]
	if cap(s.buf) > keptLines {
		s.buf = nil
	}
	for i := range events.Items {
		event := &events.Items[i]
		if event.Kind == wire.EventChunk {
			s.frames.Items = append(s.frames.Items, wire.Frame{
				Class: wire.Mergeable, Key: uint32(event.Kind), Head: s.text, Text: event.Text, Tail: s.tail, Event: eventName,
			})
			continue
		}
		s.remembered(event)
		s.add(event)
	}
	return &s.frames
}

// add encodes an event that is no text.
func (s *Stream) add(event *wire.Event) {
	if line := s.line(event); len(line) > 0 {
		s.frames.Items = append(s.frames.Items, wire.Frame{Class: wire.BestEffort, Head: line, Event: eventName})
	}
}

// remembered tells that the memory is done, which no event of its own says: the first step of the model
// comes after it, or the end.
func (s *Stream) remembered(event *wire.Event) {
	switch event.Kind {
	case wire.EventMemoryStart:
		s.remembering = true
	case wire.EventLLMStart, wire.EventFinal, wire.EventLoopAbort:
		if s.remembering {
			s.remembering = false
			s.add(&memoryDone)
		}
	}
}

// memoryDone stands for the end of the memory.
var memoryDone = wire.Event{Kind: wire.EventFrame, Text: []byte(`{"kind":"node_status","event":{"nodeId":"memory","status":"completed"}}`)}

// line returns the line of an event that is no text, nothing for one that isn't told.
func (s *Stream) line(event *wire.Event) []byte {
	from := len(s.buf)
	s.buf = append(s.buf, s.prefix...)
	body := len(s.buf)
	if s.buf = s.event(s.buf, event); len(s.buf) == body {
		s.buf = s.buf[:from]
		return nil
	}
	s.buf = append(s.buf, eventTail...)
	return s.buf[from:]
}

func (s *Stream) event(dst []byte, event *wire.Event) []byte {
	switch event.Kind {
	case wire.EventFrame:
		return append(dst, event.Text...)
	case wire.EventMemoryStart:
		return append(dst, `{"kind":"node_status","event":{"nodeId":"memory","status":"running"}}`...)
	case wire.EventLLMStart:
		return nodeOfStep(dst, "running", event.Step)
	case wire.EventLLMDone:
		return nodeOfStep(dst, "completed", event.Step)
	case wire.EventFinal:
		return append(dst, `{"kind":"end"}`...)
	}
	return s.detail(dst, event.Detail)
}

// nodeOfStep appends the status of the model in a step.
func nodeOfStep(dst []byte, status string, step int) []byte {
	dst = append(append(append(dst, `{"kind":"node_status","event":{"nodeId":"model","status":"`...), status...), `","step":`...)
	return append(wire.AppendInt(dst, int64(step)), "}}"...)
}

func (s *Stream) detail(dst []byte, detail any) []byte {
	p := JSONRPC{ASCII: s.ascii}
	switch d := detail.(type) {
	case *wire.ToolStart:
		dst = p.member(dst, `{"kind":"tool","event":{"eventType":"tool_start","toolName":`, d.Tool)
		dst = wire.AppendObject(append(dst, `,"toolInput":`...), d.Args, s.ascii)
		return append(s.run(dst, d.CallID), "}}"...)
	case *wire.ToolDone:
		return s.toolDone(dst, d)
	case *wire.LoopAbort:
		return append(p.member(dst, `{"kind":"error","detail":`, abortText(d.Reason)), '}')
	}
	return dst
}

func (s *Stream) toolDone(dst []byte, d *wire.ToolDone) []byte {
	p := JSONRPC{ASCII: s.ascii}
	kind, result := "tool_error", `,"error":`
	if d.Status == wire.ToolOK {
		kind, result = "tool_result", `,"result":`
	}
	dst = p.member(dst, `{"kind":"tool","event":{"eventType":`, kind)
	dst = p.member(dst, `,"toolName":`, d.Tool)
	dst = p.member(dst, result, d.Preview)
	dst = duration(s.run(dst, d.CallID), `,"durationMs":`, d.Took)
	return append(dst, "}}"...)
}

// run appends the id that an event of a tool shares with its result.
func (s *Stream) run(dst []byte, id string) []byte {
	if id == "" {
		return dst
	}
	return wire.AppendString(append(dst, `,"runId":`...), id, s.ascii)
}

// abortText says for people why a turn has no final answer.
func abortText(reason wire.AbortReason) string {
	switch reason {
	case wire.AbortMaxSteps:
		return "the agent was stopped because it took all of its steps; raise its max_steps, or ask for less"
	case wire.AbortParseErrors:
		return "the agent was stopped because its model wrote tool calls that can't be read; try again, or another model"
	case wire.AbortToolFailures:
		return "the agent was stopped because its tools failed again and again; see the events of the tools"
	case wire.AbortContextOverflow:
		return "the agent was stopped because the conversation doesn't fit into the model's context; begin a new one, or raise ctx_size"
	}
	return "the agent was stopped: " + string(reason)
}
