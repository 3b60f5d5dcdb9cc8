package wire

import "time"

// EventKind names an event of a chat.
type EventKind uint8

// The events of a chat, named as in NDJSON v1 (section "chat events"); EventReasoning, EventProgress
// and EventToolApproval belong to the extensions reasoning, progress and approval.
const (
	EventRunStart EventKind = iota + 1
	EventLLMStart
	EventChunk
	EventReasoning
	EventLLMDone
	EventFinal
	EventMemoryStart
	EventToolStart
	EventToolDone
	EventToolApproval
	EventLoopAbort
	EventProgress
	// EventFrame is an event of a gateway's stream, of which JSON-RPC v1 tells as it is: its Text is a
	// JSON object that may stand in a line.
	EventFrame
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
	// Detail is what only one kind of event tells: *RunStart, *ToolStart, *ToolDone, *ToolApproval,
	// *LoopAbort or *Progress; nil for the other kinds. It isn't changed once it was handed over.
	Detail any
}

// RunStart is the detail of run_start; its members are plain text.
type RunStart struct{ UserInput, TraceID string }

// ToolStart is the detail of tool_start.
type ToolStart struct {
	// Tool is named server/tool, or as the model wrote it where there is no such tool.
	Tool string
	// Args is a JSON object.
	Args string
	// CallID tells the calls of a turn apart, for a host that was asked for an approval; empty leaves
	// it out.
	CallID string
}

// ToolDone is the detail of tool_done.
type ToolDone struct {
	Tool   string
	Status ToolStatus
	// Preview is the first 200 characters of the result, as one line.
	Preview   string
	Retryable bool
	Took      time.Duration
	CallID    string // as in ToolStart
}

// ToolApproval is the detail of tool_approval.
type ToolApproval struct {
	CallID, Tool string
	// Args is a JSON object.
	Args string
	// Expires is how long an answer is waited for.
	Expires time.Duration
}

// LoopAbort is the detail of loop_abort.
type LoopAbort struct{ Reason AbortReason }

// AbortReason says why a turn was ended before it had its final answer.
type AbortReason string

// The reasons of loop_abort.
const (
	AbortMaxSteps        AbortReason = "max_steps"
	AbortParseErrors     AbortReason = "parse_errors"
	AbortToolFailures    AbortReason = "tool_failures"
	AbortContextOverflow AbortReason = "context_overflow"
)

// Progress is the detail of progress.
type Progress struct {
	Stage Phase
	// Fraction is from 0 to 1; negative when it isn't known.
	Fraction float64
	// Detail is a few plain words for people, such as a tool's name.
	Detail string
}

// Events is the batch between transform and encode.
type Events struct{ Items []Event }

// Reset empties the batch and keeps its memory.
func (e *Events) Reset() { e.Items = e.Items[:0] }
