package pipeline

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// scriptedTools are tools of the server s, which do what their names say. The server late is waited for
// three seconds, once, and can't be reached.
type scriptedTools struct{ gaveUp atomic.Bool }

// scriptedCalls are what the tools named s/KEY do.
var scriptedCalls = map[string]func(ctx context.Context, args string) wire.ToolResult{
	"ask":  func(ctx context.Context, _ string) wire.ToolResult { return takes(ctx, time.Second, "asked") },
	"ask2": func(ctx context.Context, _ string) wire.ToolResult { return takes(ctx, time.Second, "asked too") },
	"big": func(context.Context, string) wire.ToolResult {
		return wire.ToolResult{Status: wire.ToolOK, Text: strings.Repeat("é\n", 500)}
	},
	"echo": func(_ context.Context, args string) wire.ToolResult {
		return wire.ToolResult{Status: wire.ToolOK, Text: args}
	},
	"fails": func(context.Context, string) wire.ToolResult {
		return wire.ToolResult{Status: wire.ToolError, Text: "it\nfailed", Retryable: true}
	},
	"hangs": func(ctx context.Context, _ string) wire.ToolResult {
		if r := takes(ctx, time.Minute, ""); r.Status == wire.ToolCancelled {
			return r
		}
		return wire.ToolResult{Status: wire.ToolTimeout, Text: "no answer within 60 s", Retryable: true}
	},
	"panics": func(context.Context, string) wire.ToolResult { panic("told to") },
	"slow": func(ctx context.Context, args string) wire.ToolResult {
		return takes(ctx, time.Duration(gjson.Get(args, "s").Int())*time.Second, "slept")
	},
}

// takes is the result of a tool after a time. What is cancelled takes closeTime to end.
func takes(ctx context.Context, d time.Duration, text string) wire.ToolResult {
	if pause(ctx, d) != nil {
		time.Sleep(closeTime)
		return wire.ToolResult{Status: wire.ToolCancelled, Text: "cancelled"}
	}
	return wire.ToolResult{Status: wire.ToolOK, Text: text}
}

// List implements agent.Tools.
func (t *scriptedTools) List(ctx context.Context, globs []string, waiting func()) (tools []wire.Tool, warnings []string) {
	if slices.Contains(globs, "late/*") {
		if !t.gaveUp.Load() {
			if waiting != nil {
				waiting()
			}
			_ = pause(ctx, 3*time.Second)
			t.gaveUp.Store(true)
		}
		warnings = append(warnings, "the tools of the server late are missing: it didn't answer; see mcp_servers")
	}
	for name := range scriptedCalls {
		tools = append(tools, wire.Tool{Name: "s/" + name, Function: "s__" + name, Schema: `{"type":"object"}`})
	}
	slices.SortFunc(tools, func(a, b wire.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, warnings
}

// NeedsApproval implements agent.Tools.
func (*scriptedTools) NeedsApproval(name string) bool { return strings.HasPrefix(name, "s/ask") }

// Call implements agent.Tools.
func (*scriptedTools) Call(ctx context.Context, name, args string) wire.ToolResult {
	return scriptedCalls[strings.TrimPrefix(name, "s/")](ctx, args)
}
