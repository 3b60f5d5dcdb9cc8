package wire

// TokenKind says what a piece of a model's stream is.
type TokenKind uint8

// The kinds of text that llama-server's deltas carry, and what the gateway sends besides text.
const (
	TokenContent   TokenKind = iota + 1 // delta.content
	TokenReasoning                      // delta.reasoning_content
	TokenFrame                          // an event of chat/event that is no text
)

// Token is one piece of a model's stream: text, or an event of a gateway's stream.
type Token struct {
	Kind TokenKind
	// Plain says that Raw is known to be printable ASCII without escapes; it isn't set of a frame.
	Plain bool
	// Raw is the inside of the JSON string as it stood on the wire: escapes complete, UTF-8 not
	// checked. Of a TokenFrame it is the event as a whole JSON object, such as {"kind":"end"}, which
	// may hold white space and characters that no line of ours may: AppendObject writes it. Borrowed
	// until the batch's Push returns.
	Raw []byte
}

// Tokens is the batch that a model source emits: all tokens that one read brought, and the facts
// that came with them.
type Tokens struct {
	Items []Token
	// Finish is the finish reason, when one came; empty otherwise.
	Finish string
	// Usage and Progress are the newest of the batch; nil when none came.
	Usage    *Usage
	Progress *PromptProgress
	// Calls are pieces of the tool calls that the model makes, in the order in which they came.
	Calls []CallDelta
}

// Reset empties the batch and keeps its memory.
func (t *Tokens) Reset() {
	t.Items = t.Items[:0]
	t.Finish, t.Usage, t.Progress, t.Calls = "", nil, nil, nil
}

// Usage counts the tokens of a request as the server counted them.
type Usage struct{ PromptTokens, CompletionTokens int64 }

// PromptProgress is how far the server has read the prompt, in tokens.
type PromptProgress struct{ Total, Cached, Processed int64 }

// ModelRequest is one model step as execute asks for it; every source renders it for its server.
type ModelRequest struct {
	Messages []Message
	// Tools are what the model may call; none leaves tools out of the request.
	Tools []Tool
	// MaxTokens bounds the answer; 0 leaves it to the server.
	MaxTokens int
	// Temperature is nil when the server's default is wanted.
	Temperature *float64
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role, Content string
	// Calls are the tool calls of an assistant's message.
	Calls []ToolCall
	// CallID says which call a tool's message answers.
	CallID string
}

// Phase says what a chat waits for, in the words of the extension progress.
type Phase string

// The phases of a chat: the first three come before a model step.
const (
	PhaseServerStart Phase = "server_start"
	PhaseModelLoad   Phase = "model_load"
	PhaseQueue       Phase = "queue"
	PhasePrompt      Phase = "prompt"
	PhaseTool        Phase = "tool"
)
