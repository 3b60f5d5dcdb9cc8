package encode

import "sluice/internal/wire"

// NDJSON renders NDJSON v1 (protocol-ndjson-v1, sections "Message format" and "chat events").
type NDJSON struct {
	// ASCII escapes everything outside ASCII.
	ASCII bool
}

var eventNames = [...]string{
	wire.EventRunStart:     "run_start",
	wire.EventLLMStart:     "llm_start",
	wire.EventChunk:        "llm_chunk",
	wire.EventReasoning:    "llm_reasoning",
	wire.EventLLMDone:      "llm_done",
	wire.EventFinal:        "final",
	wire.EventMemoryStart:  "memory_start",
	wire.EventToolStart:    "tool_start",
	wire.EventToolDone:     "tool_done",
	wire.EventToolApproval: "tool_approval",
	wire.EventLoopAbort:    "loop_abort",
	wire.EventProgress:     "progress",
}

// stepless are the events of the turn as a whole, which name no step.
var stepless = [...]bool{wire.EventRunStart: true, wire.EventMemoryStart: true, wire.EventProgress: true}

// keptLines is the most memory that an encoder keeps for the next batch's lines, in bytes.
const keptLines = 64 << 10

// textTail closes a line that ends in a string.
const textTail = "\"}\n"

// Events encodes the events of one chat.
type Events struct {
	protocol NDJSON
	id       wire.ID
	offsets  bool
	frames   wire.Frames
	buf      []byte
	heads    [2]head // of llm_chunk and llm_reasoning
	tail     []byte
}

// head is the beginning of a text line, which is the same throughout a step.
type head struct {
	step int
	line []byte
}

// Events returns the encoder of one chat's events; with offsets every text event tells where in its
// step's text it begins.
func (p NDJSON) Events(id wire.ID, offsets bool) *Events {
	return &Events{protocol: p, id: id, offsets: offsets, tail: []byte(textTail)}
}

// Apply encodes a batch. The frames and their bytes are valid until the next call.
func (e *Events) Apply(events *wire.Events) *wire.Frames {
	e.frames.Reset()
	e.buf = e.buf[:0]
	if cap(e.buf) > keptLines {
		e.buf = nil
	}
	for i := range events.Items {
		e.frames.Items = append(e.frames.Items, wire.Frame{})
		e.frame(&e.frames.Items[i], &events.Items[i])
	}
	return &e.frames
}

// frame fills the empty frame f where it stands: handing frames over by value took most of encode's
// time.
func (e *Events) frame(f *wire.Frame, event *wire.Event) {
	f.Class, f.Event = wire.BestEffort, eventNames[event.Kind]
	switch event.Kind {
	case wire.EventChunk, wire.EventReasoning:
		f.Class = wire.Mergeable
		f.Key = uint32(event.Kind)<<24 | uint32(event.Step)&0xffffff
		f.Head, f.Text, f.Tail = e.textHead(event), event.Text, e.tail
	case wire.EventFinal:
		f.Deferred = &finalLine{encoder: e, step: event.Step, response: event.Text}
		f.Cost = len(event.Text) + len(e.id) + 128
		f.Shared = len(event.Text) // the result holds the same text
	case wire.EventProgress:
		f.Class, f.Key = wire.LatestWins, uint32(event.Kind)<<24
		f.Head = e.line(event)
	case wire.EventToolApproval:
		f.Class = wire.Guaranteed
		f.Head = e.line(event)
	default:
		f.Head = e.line(event)
	}
}

// textHead returns the line up to the text.
func (e *Events) textHead(event *wire.Event) []byte {
	h := &e.heads[event.Kind-wire.EventChunk]
	if h.line == nil || h.step != event.Step {
		h.step = event.Step
		h.line = e.begin(nil, event.Kind, event.Step)
		if !e.offsets {
			h.line = append(h.line, `,"delta":"`...)
		}
	}
	if !e.offsets {
		return h.line
	}
	from := len(e.buf)
	e.buf = append(append(e.buf, h.line...), `,"offset":`...)
	e.buf = wire.AppendInt(e.buf, event.Offset)
	e.buf = append(e.buf, `,"delta":"`...)
	return e.buf[from:]
}

// begin appends the members that every event has.
func (e *Events) begin(dst []byte, kind wire.EventKind, step int) []byte {
	dst = append(dst, `{"id":`...)
	dst = wire.AppendID(dst, e.id, e.protocol.ASCII)
	dst = append(dst, `,"type":"event","event":"`...)
	dst = append(dst, eventNames[kind]...)
	dst = append(dst, '"')
	if int(kind) < len(stepless) && stepless[kind] {
		return dst
	}
	dst = append(dst, `,"step":`...)
	return wire.AppendInt(dst, int64(step))
}

// line returns the line of an event that is neither text nor deferred.
func (e *Events) line(event *wire.Event) []byte {
	from := len(e.buf)
	e.buf = e.begin(e.buf, event.Kind, event.Step)
	e.buf = e.detail(e.buf, event.Detail)
	e.buf = append(e.buf, "}\n"...)
	return e.buf[from:]
}

// finalLine is the event final, encoded when the writer takes it because it repeats the whole text.
type finalLine struct {
	encoder  *Events
	step     int
	response []byte
}

// AppendTo implements wire.Deferred.
func (f *finalLine) AppendTo(dst []byte, _ wire.Delivery) []byte {
	dst = f.encoder.begin(dst, wire.EventFinal, f.step)
	dst = append(dst, `,"response":"`...)
	dst = append(dst, f.response...)
	return append(dst, textTail...)
}
