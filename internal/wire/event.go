package wire

// EventKind names an event of a chat.
type EventKind uint8

// The events of a chat, named as in NDJSON v1 (section "chat events"); EventReasoning belongs to the
// extension reasoning.
const (
	EventRunStart EventKind = iota + 1
	EventLLMStart
	EventChunk
	EventReasoning
	EventLLMDone
	EventFinal
)

// Event is one event of a chat before it is encoded.
type Event struct {
	Kind EventKind
	// Step counts the model steps of the turn from 0.
	Step int
	// Text is escaped for the inside of a JSON string: the delta of a chunk, the response of final.
	// A delta is borrowed until the batch's Push returns; a response is not changed any more.
	Text []byte
	// Offset is the UTF-8 byte offset of a chunk's delta in the step's text.
	Offset int64
	// UserInput and TraceID belong to run_start; they are plain text.
	UserInput, TraceID string
}

// Events is the batch between transform and encode.
type Events struct{ Items []Event }

// Reset empties the batch and keeps its memory.
func (e *Events) Reset() { e.Items = e.Items[:0] }
