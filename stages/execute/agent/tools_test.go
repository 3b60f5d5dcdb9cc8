package agent

import (
	"context"
	"strings"
	"sync"
	"time"

	"sluice/internal/wire"
)

// catalogue are the tools of these tests; fakeTools does what their names say.
var catalogue = []wire.Tool{
	tool("s/ask"), tool("s/ask2"), tool("s/big"), tool("s/echo"), tool("s/fails"), tool("s/fast"), tool("s/panics"), tool("s/slow"),
}

func tool(name string) wire.Tool {
	return wire.Tool{Name: name, Function: strings.ReplaceAll(name, "/", "__"), Description: "does it", Schema: `{"type":"object"}`}
}

// fakeTools are servers that take connect to be reached by the first List. With late the first one has
// the warnings and no tools, the next one all tools and no warnings.
type fakeTools struct {
	world    *world
	list     []wire.Tool
	warnings []string
	connect  time.Duration
	late     bool
	listed   int
	big      string // what big returns
	mu       sync.Mutex
	running  int
	most     int // that ran at once
}

// List implements Tools.
func (f *fakeTools) List(ctx context.Context, globs []string, waiting func()) ([]wire.Tool, []string) {
	f.world.note("List %s", strings.Join(globs, " "))
	f.listed++
	switch {
	case f.listed > 1 && f.late:
		return f.list, nil
	case f.listed == 1 && f.connect > 0:
		waiting()
		_ = pause(ctx, f.connect)
	}
	if f.late {
		return nil, f.warnings
	}
	return f.list, f.warnings
}

// NeedsApproval implements Tools.
func (f *fakeTools) NeedsApproval(name string) bool { return strings.HasPrefix(name, "s/ask") }

// Call implements Tools.
func (f *fakeTools) Call(ctx context.Context, name, args string) wire.ToolResult {
	f.world.note("call %s", name)
	f.mu.Lock()
	f.running++
	f.most = max(f.most, f.running)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	took := map[string]time.Duration{"s/slow": 10 * time.Second, "s/fast": time.Second}[name]
	if pause(ctx, took) != nil {
		return wire.ToolResult{Status: wire.ToolCancelled, Text: "cancelled while it ran"}
	}
	switch name {
	case "s/fails":
		return wire.ToolResult{Status: wire.ToolError, Text: "no such\nfile", Retryable: true}
	case "s/panics":
		panic("told to")
	case "s/big":
		return wire.ToolResult{Status: wire.ToolOK, Text: f.big}
	}
	return wire.ToolResult{Status: wire.ToolOK, Text: name + " got " + args}
}

// fakeMemory remembers what it is given.
type fakeMemory struct {
	world    *world
	snippets []wire.Snippet
	err      error
	took     time.Duration
}

// Retrieve implements Memory.
func (f *fakeMemory) Retrieve(ctx context.Context, user, session, text string) ([]wire.Snippet, error) {
	f.world.note("Retrieve %s %s %s", user, session, text)
	if err := pause(ctx, f.took); err != nil {
		return nil, err
	}
	return f.snippets, f.err
}

// fakeApprovals ask a host that answers what answer says, or when the test does.
type fakeApprovals struct {
	world    *world
	possible bool
	needless bool // everything was approved of
	answer   func(call wire.ToolApproval) *Answer

	mu      sync.Mutex
	answers map[string]chan Answer // by call id
}

// Needed implements Approvals.
func (f *fakeApprovals) Needed(string) bool { return !f.needless }

// Possible implements Approvals.
func (f *fakeApprovals) Possible() bool { return f.possible }

// Ask implements Approvals.
func (f *fakeApprovals) Ask(ctx context.Context, step int, call wire.ToolApproval) <-chan Answer {
	f.world.note("ask %d %s %s %s", step, call.CallID, call.Tool, call.Args)
	decided, answer := make(chan Answer, 1), make(chan Answer, 1)
	f.mu.Lock()
	f.answers[call.CallID] = decided
	f.mu.Unlock()
	if f.answer != nil {
		if a := f.answer(call); a != nil {
			decided <- *a
		}
	}
	go func() {
		select {
		case a := <-decided:
			answer <- a
		case <-ctx.Done():
			answer <- Answer{}
		}
	}()
	return answer
}

// decide answers a call after a time.
func (f *fakeApprovals) decide(d time.Duration, call string, a Answer) {
	time.AfterFunc(d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answers[call] <- a
	})
}
