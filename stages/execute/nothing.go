package execute

import (
	"context"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// noTools stands for tools where none are given.
type noTools struct{}

// List implements agent.Tools.
func (noTools) List(context.Context, []string, func()) ([]wire.Tool, []string) { return nil, nil }

// NeedsApproval implements agent.Tools.
func (noTools) NeedsApproval(string) bool { return true }

// Call implements agent.Tools.
func (noTools) Call(context.Context, string, string) wire.ToolResult {
	return wire.ToolResult{Status: wire.ToolError, Text: "There are no tools."}
}

// noSessions stands for sessions where none are given: each chat starts afresh.
type noSessions struct{}

// Open implements agent.Sessions.
func (noSessions) Open(context.Context, string, string, func()) (agent.Session, error) {
	return noSession{}, nil
}

type noSession struct{}

// Warnings implements agent.Session.
func (noSession) Warnings() []string { return nil }

// Last implements agent.Session.
func (noSession) Last(context.Context, int) (*wire.Turn, error) { return nil, nil }

// History implements agent.Session.
func (noSession) History(context.Context, int64, int, int) ([]wire.Turn, error) { return nil, nil }

// Begin implements agent.Session.
func (noSession) Begin(context.Context, *wire.Turn) error { return nil }

// SaveStep implements agent.Session.
func (noSession) SaveStep(context.Context, int64, *wire.TurnStep) error { return nil }

// StartCall implements agent.Session.
func (noSession) StartCall(context.Context, int64, int, int) error { return nil }

// EndCall implements agent.Session.
func (noSession) EndCall(context.Context, int64, int, int, *wire.ToolResult) error { return nil }

// Resume implements agent.Session.
func (noSession) Resume(context.Context, int64) error { return nil }

// End implements agent.Session.
func (noSession) End(context.Context, int64, wire.TurnStatus, string) error { return nil }

// Close implements agent.Session.
func (noSession) Close() {}
