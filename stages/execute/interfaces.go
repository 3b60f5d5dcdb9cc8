package execute

import (
	"context"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// Models gives access to the model servers, by the names of the configuration.
type Models interface {
	// Acquire waits until the server is up and has a slot free. The error is a *wire.Fault or the
	// cause of ctx. phase is told what is being waited for, once the caller has its place in the queue.
	Acquire(ctx context.Context, model string, phase func(wire.Phase)) (Lease, error)
	// Warm starts the server and waits until its model is loaded.
	Warm(ctx context.Context, model string) error
}

// Lease is one slot of a ready server.
type Lease interface {
	// Release gives the slot back; it may be called more than once.
	Release()
	// Waited tells how long the slot and the server's start-up were waited for.
	Waited() (queue, load time.Duration)
	// Planned tells when the server's start was planned; zero times when it wasn't.
	Planned() (began, ended time.Time)
	agent.Window
	// Idle waits until the server is seen idle, or ctx ends. False when it wasn't, or can't be told.
	Idle(ctx context.Context) bool
}

// Planner tells how a model's server would be started.
type Planner interface {
	// Plan returns a JSON object. The error is a *wire.Fault or the cause of ctx.
	Plan(ctx context.Context, model string) ([]byte, error)
}

// Doctor looks at everything that chats need and returns a JSON object. It takes 10 s at most. agent is
// the one that was named, empty when none was: then all of them are looked after. The error is a
// *wire.Fault or the cause of ctx.
type Doctor func(ctx context.Context, agent string) ([]byte, error)

// Output is where replies and chats go.
type Output interface {
	// Reply hands over the final frame of a request that has no events.
	Reply(id wire.ID, reply wire.Reply)
	// Chat opens the output of one chat.
	Chat(id wire.ID, extensions Extensions) Chat
	// Gate waits while the reader owes us room for guaranteed frames.
	Gate(ctx context.Context) error
}

// Chat is the output of one chat. It belongs to the chat's goroutine.
type Chat interface {
	// Event hands over an event.
	Event(event wire.Event)
	// Step runs one model step and hands over its events. The outcome is what there was, also with an
	// error, which is a *wire.Fault or the cause of ctx. tokens is told how many more arrived.
	Step(ctx context.Context, lease Lease, step int, request *wire.ModelRequest, tokens func(int64)) (Outcome, error)
	// Progress says what the chat waits for from now on, until nil or another one. It is told at once
	// and at least once a second while nothing else is sent, to a host that switched the extension on.
	// It may be called from any goroutine.
	Progress(what *wire.Progress)
	// Accept hands over the answer to the request that began the chat, where that isn't its final frame.
	// It leaves before every event.
	Accept(id wire.ID, reply wire.Reply)
	// Relay hands over the events of a gateway's run. The outcome has no response; the rest is as with Step.
	Relay(ctx context.Context, run Run, tokens func(int64)) (Outcome, error)
	// Finish hands over the final frame.
	Finish(done *wire.ChatDone)
}

// Outcome is what a model step brought.
type Outcome struct {
	// Response is the text, escaped for the inside of a JSON string; nobody changes it any more.
	Response []byte
	// Calls are the tool calls, whole.
	Calls  []wire.ToolCall
	Finish string
	Usage  *wire.Usage
	// FirstToken is when the first text arrived; zero when none did.
	FirstToken time.Time
	// Upstream is the time spent waiting for the server.
	Upstream time.Duration
}

// Extensions are the extensions of NDJSON v1 that the host switched on.
type Extensions struct{ Offsets, Reasoning, Progress, Approval bool }
