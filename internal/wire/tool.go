package wire

import "time"

// Tool is one tool as hosts and models see it.
type Tool struct {
	// Name is server/tool, for hosts and the configuration.
	Name string
	// Function is what the model calls it by: made of letters, digits, _ and -, at most 64 bytes long,
	// and no other tool's of the request (the OpenAI API's rule for function names).
	Function    string
	Description string
	// Schema is the JSON Schema of the arguments, a JSON object.
	Schema string
}

// ToolCall is one call that a model made.
type ToolCall struct {
	// ID relates the call and its result in the conversation.
	ID       string
	Function string
	// Arguments is meant to be a JSON object, but stands here as the model wrote it.
	Arguments string
}

// CallDelta is a piece of a tool call of a model's stream: pieces of the same Index make one call. ID
// and Function come with the first piece; Arguments is to be appended. All are plain text that
// belongs to the delta.
type CallDelta struct {
	Index                   int
	ID, Function, Arguments string
}

// ToolStatus says how a tool call ended, in the words of tool_done.
type ToolStatus string

// The ends of a tool call.
const (
	ToolOK        ToolStatus = "ok"
	ToolError     ToolStatus = "error"
	ToolDenied    ToolStatus = "denied"
	ToolTimeout   ToolStatus = "timeout"
	ToolCancelled ToolStatus = "cancelled"
)

// ToolResult is what came of a tool call.
type ToolResult struct {
	Status ToolStatus
	// Text is the whole result, or a message that says what went wrong and what to do.
	Text string
	// Bytes is how long the whole result is where Text is only its beginning; 0 where Text is whole.
	Bytes int
	// Retryable says that the same call may succeed another time.
	Retryable bool
	Took      time.Duration
}
