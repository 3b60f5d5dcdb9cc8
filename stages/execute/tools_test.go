package execute

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// fakeTools are tools named s/NAME: ask and ask2 need an approval, a duration takes that long.
type fakeTools struct {
	connect time.Duration // how long List takes
	panics  bool          // List does

	mu     sync.Mutex
	called []string
	listed [][]string // the globs of each List
	waited int        // how often List said that it waits
}

// List implements agent.Tools.
func (f *fakeTools) List(ctx context.Context, globs []string, waiting func()) (tools []wire.Tool, _ []string) {
	if f.panics {
		panic("told to")
	}
	f.mu.Lock()
	f.listed = append(f.listed, globs)
	f.mu.Unlock()
	if f.connect > 0 {
		if waiting != nil {
			f.mu.Lock()
			f.waited++
			f.mu.Unlock()
			waiting()
		}
		_ = sleep(ctx, f.connect)
	}
	for _, name := range []string{"ask", "ask2", "echo", "10s"} {
		tools = append(tools, wire.Tool{Name: "s/" + name, Function: "s__" + name, Schema: "{}"})
	}
	return tools, nil
}

// NeedsApproval implements agent.Tools.
func (f *fakeTools) NeedsApproval(name string) bool { return strings.HasPrefix(name, "s/ask") }

// Call implements agent.Tools.
func (f *fakeTools) Call(ctx context.Context, name, _ string) wire.ToolResult {
	f.mu.Lock()
	f.called = append(f.called, name)
	f.mu.Unlock()
	took, _ := time.ParseDuration(strings.TrimPrefix(name, "s/"))
	if sleep(ctx, took) != nil {
		return wire.ToolResult{Status: wire.ToolCancelled}
	}
	return wire.ToolResult{Status: wire.ToolOK, Text: "ok"}
}

// calls returns which tools were called since the last time.
func (f *fakeTools) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	called := f.called
	f.called = nil
	return called
}

// fakeSessions let one chat at a time have a session, in the order of Open. They store nothing.
type fakeSessions struct {
	mu     sync.Mutex
	held   map[string]bool
	queue  map[string][]chan struct{}
	opened []string
}

func newSessions() *fakeSessions {
	return &fakeSessions{held: map[string]bool{}, queue: map[string][]chan struct{}{}}
}

// hold takes a session as another engine does; false when it is taken.
func (f *fakeSessions) hold(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[key] {
		return false
	}
	f.held[key] = true
	return true
}

// release lets the next one have the session.
func (f *fakeSessions) release(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if waiting := f.queue[key]; len(waiting) > 0 {
		f.queue[key] = waiting[1:]
		close(waiting[0])
		return
	}
	f.held[key] = false
}

// Open implements agent.Sessions.
func (f *fakeSessions) Open(ctx context.Context, user, session string, waiting func()) (agent.Session, error) {
	key := user + "/" + session
	f.mu.Lock()
	f.opened = append(f.opened, key)
	if !f.held[key] {
		f.held[key] = true
		f.mu.Unlock()
		return &fakeSession{sessions: f, key: key}, nil
	}
	turn := make(chan struct{})
	f.queue[key] = append(f.queue[key], turn)
	f.mu.Unlock()
	waiting()
	select {
	case <-turn:
		return &fakeSession{sessions: f, key: key}, nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	at := slices.Index(f.queue[key], turn)
	if at >= 0 {
		f.queue[key] = slices.Delete(f.queue[key], at, at+1)
	}
	f.mu.Unlock()
	if at < 0 { // it came in this moment
		f.release(key)
	}
	return nil, context.Cause(ctx)
}

type fakeSession struct {
	noSession
	sessions *fakeSessions
	key      string
}

// Close implements agent.Session.
func (s *fakeSession) Close() { s.sessions.release(s.key) }

// toolbox are agents that have tools.
var toolbox = []Agent{{Name: "assistant", Model: "ready", MaxSteps: 5, Tools: []string{"s/*"}}, {Name: "panics", Model: "panics", MaxSteps: 5, Tools: []string{"s/*"}}}

// withTools are options with those tools.
func withTools(tools *fakeTools) Options { return Options{Agents: toolbox, Tools: tools} }
