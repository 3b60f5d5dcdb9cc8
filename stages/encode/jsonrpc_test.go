package encode

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// statusFault is a fault of a gateway's answer.
func statusFault() *wire.Fault {
	return &wire.Fault{Code: wire.CodeNetwork, Message: "the gateway said \"no\"", Status: 503}
}

func agent() wire.AgentInfo {
	return wire.AgentInfo{
		ID: 71, WorkflowID: "wf", WorkflowName: "Sales é\u2028", NodeCount: 5, IsShared: true, IsDeployed: false, IsCompleted: true,
		WorkflowType: "canvas", Description: "d", Username: "u", FullName: "f", Created: "c", Updated: "v",
	}
}

const agentLine = `{"id":71,"workflowId":"wf","workflowName":"Sales é\u2028","nodeCount":5,"isShared":true,"isDeployed":false,"isCompleted":true,` +
	`"workflowType":"canvas","description":"d","username":"u","fullName":"f","createdAt":"c","updatedAt":"v"}`

func historyTurn() wire.HistoryTurn {
	return wire.HistoryTurn{LogID: 1, IOID: 2, InteractionID: "i", WorkflowID: "w", WorkflowName: "n", Input: "a\nb", Output: "안녕", Updated: "u"}
}

const turnLine = `{"logId":1,"ioId":2,"interactionId":"i","workflowId":"w","workflowName":"n","input":"a\nb","output":"안녕","updatedAt":"u"}`

func toolsStatus() *wire.ToolsStatus {
	return &wire.ToolsStatus{
		Config: wire.LocalTools{Enabled: true, CWD: "/w", TimeoutMS: 5000, AllowedRoots: []string{"/w"}, BlockedCommands: []string{"rm"}, AllowDangerous: true},
		Tools:  []wire.ToolInfo{{Name: "Shell", Description: "runs", Schema: `{ "type": "object" }`}},
		Bridge: wire.Bridge{Running: true, Connected: true, CatalogSynced: true, AdvertisedTools: 6, ServerTools: 5},
	}
}

func TestResultsOfJSONRPC(t *testing.T) {
	user := &wire.AuthUser{UserID: "123", Username: "ann", IsSuperuser: true, Roles: []string{"developer"}, Permissions: []string{}}
	for name, c := range map[string]struct {
		reply wire.Reply
		want  string
	}{
		"handshake": {&wire.Handshake{ProtocolVersion: 1, ServerVersion: "v1"}, `{"protocolVersion":1,"server":{"name":"sluice","version":"v1"},"capabilities":{"profiles":true,` +
			`"authentication":["password"],"agents":true,"chatStreaming":true,"chatCancellation":true,"history":true,"localTools":true}}`},
		"health":           {&wire.Health{ActiveChats: 3}, `{"ok":true,"activeChats":3}`},
		"shutdown":         {&wire.ShutdownDone{}, `null`},
		"started":          {&wire.ChatStarted{Stream: `"s1"`, InteractionID: "i", WorkflowID: "w", WorkflowName: "é\u0085"}, `{"streamId":"s1","interactionId":"i","workflowId":"w","workflowName":"é\u0085"}`},
		"cancelled":        {&wire.CancelDone{Cancelled: true, Target: `"s1"`}, `{"cancelled":true}`},
		"nothing":          {&wire.CancelDone{}, `{"cancelled":false}`},
		"stopped":          {&wire.StopResult{Cancelled: true, Stopped: true}, `{"cancelled":true,"stopped":true}`},
		"not running":      {&wire.StopResult{Reason: wire.StopNotRunning}, `{"cancelled":false,"stopped":false,"reason":"not_running"}`},
		"profile":          {&wire.Profile{Name: "corp", ServerURL: "https://x", Current: true}, `{"name":"corp","serverUrl":"https://x","current":true}`},
		"profiles":         {&wire.ProfileList{Items: []wire.Profile{{Name: "a"}, {Name: "b"}}}, `[{"name":"a","serverUrl":"","current":false},{"name":"b","serverUrl":"","current":false}]`},
		"no profiles":      {&wire.ProfileList{}, `[]`},
		"signed in":        {&wire.AuthStatus{Profile: "corp", ServerURL: "https://x", Authenticated: true, User: user}, `{"profile":"corp","serverUrl":"https://x","authenticated":true,"user":{"userId":"123","username":"ann","isSuperuser":true,"roles":["developer"],"permissions":[]}}`},
		"signed out":       {&wire.AuthStatus{Profile: "corp", Reason: wire.AuthMissingSession}, `{"profile":"corp","serverUrl":"","authenticated":false,"reason":"missing_session"}`},
		"logout":           {&wire.LogoutDone{}, `{"ok":true}`},
		"agents":           {&wire.AgentPage{Items: []wire.AgentInfo{agent()}, Page: 1, PageSize: 24, TotalCount: 29, TotalPages: 2}, `{"items":[` + agentLine + `],"pagination":{"page":1,"pageSize":24,"totalCount":29,"totalPages":2}}`},
		"no agents":        {&wire.AgentPage{}, `{"items":[],"pagination":{"page":0,"pageSize":0,"totalCount":0,"totalPages":0}}`},
		"conversations":    {&wire.ConversationList{Items: []wire.Conversation{{ID: 1, InteractionID: "i", WorkflowID: "w", WorkflowName: "n", InteractionCount: 3, Metadata: "{ \"a\": \"\u2028\" }", Created: "c", Updated: "u"}}}, `[{"id":1,"interactionId":"i","workflowId":"w","workflowName":"n","interactionCount":3,"metadata":{"a":"\u2028"},"createdAt":"c","updatedAt":"u"}]`},
		"no conversations": {&wire.ConversationList{}, `[]`},
		"turns":            {&wire.TurnList{Items: []wire.HistoryTurn{historyTurn(), historyTurn()}}, `[` + turnLine + `,` + turnLine + `]`},
		"snapshot":         {&wire.Snapshot{History: wire.History{Turns: []wire.HistoryTurn{historyTurn()}, Running: true}}, `{"turns":[` + turnLine + `],"running":true}`},
		"tools":            {&wire.ToolList{Items: []wire.ToolInfo{{Name: "Shell", Description: "runs", Schema: `[]`}}}, `[{"name":"Shell","description":"runs","inputSchema":{}}]`},
		"no tools":         {&wire.ToolList{}, `[]`},
		"tools status": {toolsStatus(), `{"config":{"enabled":true,"cwd":"/w","timeoutMs":5000,"allowedRoots":["/w"],"blockedCommands":["rm"],"allowDangerous":true},` +
			`"tools":[{"name":"Shell","description":"runs","inputSchema":{"type":"object"}}],"bridge":{"running":true,"connected":true,"catalogSynced":true,"advertisedTools":6,"serverTools":5}}`},
		"unknown kind": {7, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, JSONRPC{}.AppendReply(nil, `1.50`, c.reply, wire.Delivery{}), `{"jsonrpc":"2.0","id":1.50,"result":`+c.want+`}`)
			if line := (JSONRPC{ASCII: true}).AppendReply(nil, `"é"`, c.reply, wire.Delivery{}); bytes.IndexFunc(line, func(r rune) bool { return r >= 0x7f }) >= 0 || !json.Valid(line) {
				t.Errorf("beyond ASCII: %s", line)
			}
		})
	}
}

func TestErrorsOfJSONRPC(t *testing.T) {
	for code, number := range map[wire.Code]string{
		wire.CodeInvalidJSON: "-32700", wire.CodeInvalidRequest: "-32600", wire.CodeUnknownMethod: "-32601", wire.CodeInvalidParams: "-32602",
		wire.CodeNotInitialized: "-32002", wire.CodeOverloaded: "-32001", wire.CodeAuthRequired: "-32000", wire.CodeAuthInvalid: "-32000",
		wire.CodeConfigInvalid: "-32000", wire.CodeCredentialStore: "-32000", wire.CodeNetwork: "-32000", wire.CodeNotFound: "-32000",
		wire.CodeProtocolMismatch: "-32000", wire.CodeUsage: "-32000", wire.CodeConfigMissing: "-32000", wire.CodeInternal: "-32000", wire.CodeLocalToolsDisabled: "-32000",
	} {
		golden(t, JSONRPC{}.AppendReply(nil, ``, wire.NewFault(code, "why\n"), wire.Delivery{}),
			`{"jsonrpc":"2.0","id":null,"error":{"code":`+number+`,"message":"why\n","data":{"code":"`+string(code)+`"}}}`)
	}
	golden(t, JSONRPC{}.AppendReply(nil, `"\u0062"`, statusFault(), wire.Delivery{}),
		`{"jsonrpc":"2.0","id":"\u0062","error":{"code":-32000,"message":"the gateway said \"no\"","data":{"code":"network_error","details":{"status":503}}}}`)
}

func TestTerminalNotifications(t *testing.T) {
	for name, c := range map[string]struct {
		fault *wire.Fault
		d     wire.Delivery
		want  string
	}{
		"complete": {nil, wire.Delivery{Sent: 5, Merged: 3}, `"chat/complete","params":{"streamId":"s1","interactionId":"i\n"}}`},
		"error":    {wire.NewFault(wire.CodeCancelled, "was"), wire.Delivery{}, `"chat/error","params":{"streamId":"s1","error":{"code":"cancelled","message":"was"}}}`},
		"status":   {statusFault(), wire.Delivery{}, `"chat/error","params":{"streamId":"s1","error":{"code":"network_error","message":"the gateway said \"no\"","data":{"code":"network_error","details":{"status":503}}}}}`},
		"drops":    {nil, wire.Delivery{Dropped: 7}, `"chat/complete","params":{"streamId":"s1","dropped":7,"interactionId":"i\n"}}`},
		"both":     {wire.NewFault(wire.CodeInternal, "why"), wire.Delivery{Dropped: 1}, `"chat/error","params":{"streamId":"s1","dropped":1,"error":{"code":"internal_error","message":"why"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			done := &wire.ChatDone{Fault: c.fault, SessionID: "i\n"}
			golden(t, JSONRPC{}.AppendReply(nil, `"s1"`, done, c.d), `{"jsonrpc":"2.0","method":`+c.want)
		})
	}
}

// streamed is one of each event, and what each becomes; nothing where the protocol has no event.
var streamed = []struct {
	event wire.Event
	want  string
}{
	{wire.Event{Kind: wire.EventRunStart, Detail: &wire.RunStart{UserInput: "a", TraceID: "t"}}, ``},
	{wire.Event{Kind: wire.EventMemoryStart}, `{"kind":"node_status","event":{"nodeId":"memory","status":"running"}}`},
	{wire.Event{Kind: wire.EventLLMStart, Step: 2}, `{"kind":"node_status","event":{"nodeId":"memory","status":"completed"}}` + "\n" + `{"kind":"node_status","event":{"nodeId":"model","status":"running","step":2}}`},
	{wire.Event{Kind: wire.EventChunk, Step: 2, Text: []byte(`\"é`)}, `{"kind":"text","content":"\"é"}`},
	{wire.Event{Kind: wire.EventReasoning, Text: []byte("hm")}, ``},
	{wire.Event{Kind: wire.EventLLMDone, Step: 2}, `{"kind":"node_status","event":{"nodeId":"model","status":"completed","step":2}}`},
	{wire.Event{Kind: wire.EventLLMStart, Step: 3}, `{"kind":"node_status","event":{"nodeId":"model","status":"running","step":3}}`},
	{wire.Event{Kind: wire.EventToolStart, Detail: &wire.ToolStart{Tool: "s/é", Args: `{ "a" : 1.0 }`, CallID: "c1"}}, `{"kind":"tool","event":{"eventType":"tool_start","toolName":"s/é","toolInput":{"a":1.0},"runId":"c1"}}`},
	{wire.Event{Kind: wire.EventToolStart, Detail: &wire.ToolStart{Tool: "s/t", Args: `x`}}, `{"kind":"tool","event":{"eventType":"tool_start","toolName":"s/t","toolInput":{}}}`},
	{wire.Event{Kind: wire.EventToolDone, Detail: &wire.ToolDone{Tool: "s/t", Status: wire.ToolOK, Preview: "found\n", Took: 17 * time.Millisecond, CallID: "c1"}}, `{"kind":"tool","event":{"eventType":"tool_result","toolName":"s/t","result":"found\n","runId":"c1","durationMs":17}}`},
	{wire.Event{Kind: wire.EventToolDone, Detail: &wire.ToolDone{Tool: "s/t", Status: wire.ToolDenied, Preview: "no"}}, `{"kind":"tool","event":{"eventType":"tool_error","toolName":"s/t","error":"no","durationMs":0}}`},
	{wire.Event{Kind: wire.EventProgress, Detail: &wire.Progress{Stage: wire.PhaseQueue}}, ``},
	{wire.Event{Kind: wire.EventFrame, Text: []byte(`{"kind":"log","data":"x"}`)}, `{"kind":"log","data":"x"}`},
	{wire.Event{Kind: wire.EventFinal, Text: []byte("whole")}, `{"kind":"end"}`},
	{wire.Event{Kind: wire.EventLoopAbort, Detail: &wire.LoopAbort{Reason: "odd"}}, `{"kind":"error","detail":"the agent was stopped: odd"}`},
}

// TestStreams encodes a turn event by event and as one batch: the lines are the same.
func TestStreams(t *testing.T) {
	var all wire.Events
	var lines []string
	single := JSONRPC{}.Events(`"s1"`)
	for _, c := range streamed {
		all.Items = append(all.Items, c.event)
		got := single.Apply(&wire.Events{Items: []wire.Event{c.event}}).Items
		if c.want == "" {
			if len(got) != 0 {
				t.Errorf("got %s of kind %d", line(got[0]), c.event.Kind)
			}
			continue
		}
		wanted := strings.Split(c.want, "\n")
		if len(got) != len(wanted) {
			t.Fatalf("%s became %d frames", c.want, len(got))
		}
		for i, want := range wanted {
			lines = append(lines, `{"jsonrpc":"2.0","method":"chat/event","params":{"streamId":"s1","event":`+want+`}}`)
			golden(t, line(got[i]), lines[len(lines)-1])
			class := wire.BestEffort
			if c.event.Kind == wire.EventChunk {
				class = wire.Mergeable
			}
			if got[i].Class != class || got[i].Event != "chat/event" {
				t.Errorf("%s: class %d, event %q", want, got[i].Class, got[i].Event)
			}
		}
	}
	frames := JSONRPC{}.Events(`"s1"`).Apply(&all).Items
	if len(frames) != len(lines) {
		t.Fatalf("%d frames; want %d", len(frames), len(lines))
	}
	for i, f := range frames {
		golden(t, line(f), lines[i])
	}
}

// TestTheMemoryCompletes also where the model takes no step.
func TestTheMemoryCompletes(t *testing.T) {
	for _, last := range []wire.Event{{Kind: wire.EventFinal}, {Kind: wire.EventLoopAbort, Detail: &wire.LoopAbort{Reason: "odd"}}} {
		s := JSONRPC{}.Events(`"s1"`)
		s.Apply(&wire.Events{Items: []wire.Event{{Kind: wire.EventMemoryStart}}})
		got := s.Apply(&wire.Events{Items: []wire.Event{last}}).Items
		if len(got) != 2 || !strings.Contains(string(line(got[0])), `{"nodeId":"memory","status":"completed"}`) {
			t.Errorf("the end became %d frames", len(got))
		}
	}
}

// TestAbortsSayWhy: each reason has words of its own, which say what to do.
func TestAbortsSayWhy(t *testing.T) {
	seen := map[string]bool{}
	for _, reason := range []wire.AbortReason{wire.AbortMaxSteps, wire.AbortParseErrors, wire.AbortToolFailures, wire.AbortContextOverflow} {
		text := abortText(reason)
		if seen[text] || text == "the agent was stopped: "+string(reason) {
			t.Errorf("%s: %s", reason, text)
		}
		seen[text] = true
	}
}

func TestTextEventsAllocateNothing(t *testing.T) {
	s := JSONRPC{}.Events(`"b4df"`)
	batch := &wire.Events{}
	for range 25 {
		batch.Items = append(batch.Items, wire.Event{Kind: wire.EventChunk, Text: []byte(" streams")}, wire.Event{Kind: wire.EventFrame, Text: []byte(`{"kind":"log","data":"x"}`)})
	}
	if n := testing.AllocsPerRun(100, func() { s.Apply(batch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
