package agent

import (
	"context"

	"sluice/internal/wire"
)

// Model runs model steps.
type Model interface {
	// Step waits for a slot of the model's server, has prepare make the request, runs one model step
	// and gives the slot back. It sends llm_start, the text events and llm_done; a step that began has
	// its end whatever happens. The outcome is what there was, also with an error, which is a
	// *wire.Overflow, another *wire.Fault, the cause of ctx, or that of prepare.
	Step(ctx context.Context, step int, prepare Prepare) (Outcome, error)
}

// Prepare makes the request of a model step. It is called again when the server turned out not to be
// ready, and once more with overflow set when the server refused the last request as too long; an
// error ends the step.
type Prepare func(ctx context.Context, window Window, overflow *wire.Overflow) (*wire.ModelRequest, error)

// Window tells what a model's server has room for.
type Window interface {
	// ContextSize is how many tokens one chat may hold, prompt and answer together; 0 when the server
	// doesn't tell.
	ContextSize(ctx context.Context) int
	// Count returns how many tokens the request's prompt takes on the server, template and tools
	// included. An error means that the server doesn't tell.
	Count(ctx context.Context, request *wire.ModelRequest) (int, error)
}

// Outcome is what a model step brought.
type Outcome struct {
	// Began says that llm_start was sent.
	Began bool
	// Response is the text, escaped for the inside of a JSON string; nobody changes it any more.
	Response []byte
	// Calls are the tool calls as the server made them out.
	Calls []wire.ToolCall
	// Finish is the server's finish reason.
	Finish string
	Usage  *wire.Usage
}

// Tools are the tools of the configured servers. Its methods may be called from any goroutine.
type Tools interface {
	// List returns the tools whose server/tool name one of the globs matches, sorted by name, with
	// Function set and unique among them. The first call connects to the servers; the caller waits for
	// those that are being connected, a few seconds at most, and waiting (may be nil) is called once
	// before that, only when it does. Each warning names a server whose tools are missing and what to
	// do, or a glob that names nothing.
	List(ctx context.Context, globs []string, waiting func()) (tools []wire.Tool, warnings []string)
	// NeedsApproval reports whether the configuration wants a person asked before the tool runs.
	NeedsApproval(name string) bool
	// Call runs a tool by its server/tool name. args is valid JSON and an object. It returns when there
	// is a result, the server's timeout is over or ctx ends, whatever the server does.
	Call(ctx context.Context, name, args string) wire.ToolResult
}

// Sessions keep what was said, by user and session.
type Sessions interface {
	// Open waits until the session belongs to this chat alone, in this engine and in all others that
	// share the file. waiting is called once before it waits, only when it does. The only error is the
	// cause of ctx: where nothing can be stored the session says so in its warnings and keeps what it
	// can in memory. The caller closes the session.
	Open(ctx context.Context, user, session string, waiting func()) (Session, error)
}

// Session is one session while one chat has it. It belongs to the chat's goroutine. An error of a
// write means that it is not stored (a full disk, say) and says what to do; the session stays usable,
// and it is for the caller to tell the host, once. Every call returns when its ctx ends; a write other
// than Begin is then stored behind the chat where it can be, in order, also when ctx had ended before.
type Session interface {
	// Warnings tells what was found damaged and set aside so far, or why nothing is stored.
	Warnings() []string
	// Last returns the session's newest turn, its tool results cut at maxResultBytes (0: not at all);
	// nil when there is none.
	Last(ctx context.Context, maxResultBytes int) (*wire.Turn, error)
	// History returns the turns before the turn with the id before (0: all), newest first, whole turns
	// only, as many as come to at most maxBytes of text with each tool result cut at maxResultBytes
	// (0: not at all), which it is; the first is returned even if it alone is longer.
	History(ctx context.Context, before int64, maxBytes, maxResultBytes int) ([]wire.Turn, error)
	// Begin stores a new turn with status running and sets its ID.
	Begin(ctx context.Context, turn *wire.Turn) error
	// SaveStep stores a finished model step with its calls, none of them started.
	SaveStep(ctx context.Context, turn int64, step *wire.TurnStep) error
	// StartCall stores that the call at index of a step is being made, EndCall how it ended.
	StartCall(ctx context.Context, turn int64, step, index int) error
	EndCall(ctx context.Context, turn int64, step, index int, result *wire.ToolResult) error
	// Resume sets a turn that was interrupted running again.
	Resume(ctx context.Context, turn int64) error
	// End stores how the turn ended. Once it returned nil, a killed engine loses nothing of it.
	End(ctx context.Context, turn int64, status wire.TurnStatus, response string) error
	// Close lets the next chat have the session.
	Close()
}

// Memory finds what past turns of the same user have to do with a text.
type Memory interface {
	// Retrieve returns the snippets that fit best, best first, none of the session itself. An error
	// says why there are none and what to do; the chat goes on without.
	Retrieve(ctx context.Context, user, session, text string) ([]wire.Snippet, error)
}

// Approvals ask the host whether a tool may run.
type Approvals interface {
	// Needed reports whether the tool must be asked for in this chat: not when the host approved of
	// everything, or of this tool for the session.
	Needed(tool string) bool
	// Possible reports whether the host can be asked.
	Possible() bool
	// Ask sends tool_approval and returns a channel that gets the one answer, also when ctx ends.
	Ask(ctx context.Context, step int, call wire.ToolApproval) <-chan Answer
}

// Answer is how an approval ended.
type Answer struct {
	Approved bool
	// Expired says that nobody answered in time.
	Expired bool
}
