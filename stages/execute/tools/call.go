package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/wire"
)

// explainLimit bounds how long a call waits to learn why its server ended.
const explainLimit = 3 * time.Second

// Call runs a tool by its server/tool name. args is valid JSON and an object. It returns when there is a
// result, the server's timeout is over or ctx ends, whatever the server does; then the server is told
// that the call was cancelled. A server that ended is started first. A call that can't have reached a
// server that just ended is made once more.
func (m *Manager) Call(ctx context.Context, name, args string) wire.ToolResult {
	started := time.Now()
	s := m.serverOf(name)
	result := wire.ToolResult{}
	if s == nil {
		result = failure(false, "there is no tool %q; the tools are: %s", name, m.toolNames())
	} else {
		result = s.call(ctx, name, args)
	}
	result.Text = strings.ToValidUTF8(result.Text, "\uFFFD")
	result.Took = time.Since(started)
	return result
}

func (s *server) call(ctx context.Context, name, args string) wire.ToolResult {
	for again := false; ; again = true {
		l, failed := s.await(ctx)
		if l == nil {
			return failed
		}
		tool := l.catalog.Load().byName[name]
		if tool == nil {
			return failure(false, "there is no tool %q; the tools are: %s", name, s.m.toolNames())
		}
		if err := tool.schema.check(args); err != nil {
			return failure(true, "the tool was not called, because its arguments don't fit its schema: %s. Call it again with arguments that do", excerpt(err.Error()))
		}
		result, unsent := l.call(ctx, tool.own, args)
		if !unsent || again {
			return result
		}
	}
}

// await returns the life of a server that is ready, or was made so, or else the result of the call.
func (s *server) await(ctx context.Context) (*life, wire.ToolResult) {
	l, attempt := s.ensure()
	if attempt != nil {
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, cancelled()
		case <-s.m.ctx.Done():
			return nil, cancelled()
		}
		l = s.now()
	}
	if l != nil {
		return l, wire.ToolResult{}
	}
	if ctx.Err() != nil || s.m.ctx.Err() != nil {
		return nil, cancelled()
	}
	fault, wait := s.down()
	again := ""
	if wait > 0 {
		again = fmt.Sprintf(" (it is tried again in %s)", wait.Round(time.Second))
	}
	return nil, failure(true, "MCP server %q is not there%s: %s", s.name, again, fault)
}

// answer is what came of a call.
type answer struct {
	result *mcp.CallToolResult
	err    error
}

// call makes a call in a goroutine of its own, so that nothing in the way to the server keeps the
// caller. unsent says that the call surely didn't reach the server, which has ended.
func (l *life) call(caller context.Context, tool, args string) (result wire.ToolResult, unsent bool) {
	ctx, cancel := context.WithTimeoutCause(caller, l.s.o.Timeout, errTimeout)
	defer cancel()
	defer context.AfterFunc(l.s.m.ctx, cancel)()
	sent, answers := new(mark), make(chan answer, 1)
	if !l.begin(func() {
		params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
		made, err := l.session.CallTool(withMark(ctx, sent), params)
		answers <- answer{made, err}
	}) {
		return l.broken(ctx)
	}
	select {
	case a := <-answers:
		if a.err == nil {
			l.s.useful()
			return l.resultOf(a.result), false
		}
		if ctx.Err() == nil {
			return l.failure(ctx, a.err, sent)
		}
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), errTimeout) {
		return l.late(), false
	}
	return cancelled(), false
}

func (l *life) late() wire.ToolResult {
	result := failure(true, "the tool did not answer within %s, the timeout of MCP server %q, and was told to stop; it may have done its work nevertheless", l.s.o.Timeout, l.s.name)
	result.Status = wire.ToolTimeout
	return result
}

// begin runs a call's goroutine, unless the life has ended.
func (l *life) begin(call func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.calls.Go(call)
	return true
}

// resultOf is what the tool answered.
func (l *life) resultOf(r *mcp.CallToolResult) wire.ToolResult {
	text := contentText(r)
	if r.IsError {
		return wire.ToolResult{Status: wire.ToolError, Text: l.s.o.Clean(text)}
	}
	return wire.ToolResult{Status: wire.ToolOK, Text: text}
}

func failure(retryable bool, format string, args ...any) wire.ToolResult {
	return wire.ToolResult{Status: wire.ToolError, Text: fmt.Sprintf(format, args...), Retryable: retryable}
}

func cancelled() wire.ToolResult {
	return wire.ToolResult{Status: wire.ToolCancelled, Text: "the tool call was cancelled"}
}

// maxNames is how many tools a message names.
const maxNames = 50

// toolNames lists the tools of the servers that are ready.
func (m *Manager) toolNames() string {
	var names []string
	for _, name := range m.names {
		tools, _ := m.servers[name].tools()
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}
