package validate

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"sluice/internal/wire"
)

// oneMessage validates the params of a single message.
func oneMessage(method, params string) wire.Request {
	return JSONRPC(&wire.Requests{Items: []wire.Request{{ID: "1", Name: method, RawParams: params}}}).Items[0]
}

func to[T any](v T) *T { return &v }

func TestGoodParamsOfJSONRPC(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           any
	}{
		{"initialize", `{"protocolVersion":1,"client":{"name":"x"}}`, &wire.HandshakeParams{Version: 1}},
		{"initialize", `{"protocolVersion":2.0,"client":7}`, &wire.HandshakeParams{Version: 2}},
		{"profile/set", `{"name":"","serverUrl":""}`, &wire.ProfileSetParams{}},
		{"profile/set", `{"name":"a","serverUrl":"https://x","x":1}`, &wire.ProfileSetParams{Name: "a", ServerURL: "https://x"}},
		{"profile/use", `{"name":"a"}`, &wire.ProfileParams{Profile: "a"}},
		{"auth/login", `{"email":"a@b","password":" p\u00e9 "}`, &wire.LoginParams{Email: "a@b", Password: " pé "}},
		{"auth/login", `{"profile":"c","email":"a@b","password":"p"}`, &wire.LoginParams{Profile: "c", Email: "a@b", Password: "p"}},
		{"auth/status", ``, &wire.ProfileParams{}}, {"auth/logout", `{"profile":"c"}`, &wire.ProfileParams{Profile: "c"}},
		{"agents/list", ``, &wire.AgentsParams{}},
		{"agents/list", `{"profile":"c","page":2,"pageSize":5.0,"search":"s","status":"draft","owner":"shared","includeHarness":true}`,
			&wire.AgentsParams{Profile: "c", Query: wire.AgentQuery{Page: 2, PageSize: 5, Search: "s", Status: "draft", Owner: "shared", IncludeHarness: true}}},
		{"history/conversations", `{}`, &wire.ProfileParams{}},
		{"history/turns", `{"workflowId":"w","interactionId":"i"}`, &wire.HistoryParams{WorkflowID: "w", InteractionID: "i"}},
		{"history/snapshot", `{"profile":"p","workflowId":"w","workflowName":"n","interactionId":"i"}`, &wire.HistoryParams{Profile: "p", WorkflowID: "w", WorkflowName: "n", InteractionID: "i"}},
		{"chat/start", `{"workflowId":"w","input":""}`, &wire.ChatStartParams{WorkflowID: "w", Input: `""`, IsText: true}},
		{"chat/start", `{"profile":"p","workflowId":"w","workflowName":"n","interactionId":"i","input":"a\n\u00e9"}`,
			&wire.ChatStartParams{Profile: "p", WorkflowID: "w", WorkflowName: "n", InteractionID: "i", Input: `"a\n\u00e9"`, Text: "a\né", IsText: true}},
		{"chat/start", `{"workflowId":"w","input":[{"type":"text","text":"a"},"b",{"text":"c","type":"text","x":1}]}`,
			&wire.ChatStartParams{WorkflowID: "w", Input: `[{"type":"text","text":"a"},"b",{"text":"c","type":"text","x":1}]`, Text: "a\nb\nc", IsText: true}},
		{"chat/start", `{"workflowId":"w","input":[]}`, &wire.ChatStartParams{WorkflowID: "w", Input: `[]`, IsText: true}},
		{"chat/start", `{"workflowId":"w","input":[{"type":"image_url"},"b"]}`, &wire.ChatStartParams{WorkflowID: "w", Input: `[{"type":"image_url"},"b"]`}},
		{"chat/start", `{"workflowId":"w","input":{"text":"a"}}`, &wire.ChatStartParams{WorkflowID: "w", Input: `{"text":"a"}`}},
		{"chat/cancel", `{"streamId":"s\u0031\u2028"}`, &wire.StreamParams{Stream: `"s1\u2028"`}},
		{"chat/cancel", `{"streamId":""}`, &wire.StreamParams{Stream: `""`}},
		{"chat/stop", `{"streamId":"s","interactionId":"i","profile":"p"}`, &wire.StreamParams{Stream: `"s"`, InteractionID: "i", Profile: "p"}},
		{"chat/stop", `{"interactionId":"i"}`, &wire.StreamParams{InteractionID: "i"}},
		{"localTools/configure", ``, &wire.ToolsConfigureParams{}},
		{"localTools/configure", `{"profile":"p","enabled":false,"cwd":"","timeoutMs":-5,"allowedRoots":[],"blockedCommands":["rm"],"allowDangerous":true}`,
			&wire.ToolsConfigureParams{Profile: "p", Change: wire.LocalToolsChange{Enabled: to(false), CWD: to(""), TimeoutMS: to(int64(-5)), AllowedRoots: []string{}, BlockedCommands: []string{"rm"}, AllowDangerous: to(true)}}},
		{"localTools/run", `{"tool":"Shell"}`, &wire.ToolsRunParams{Tool: "Shell", Args: "{}"}},
		{"localTools/run", `{"tool":"Shell","args":{"command":"ls"}}`, &wire.ToolsRunParams{Tool: "Shell", Args: `{"command":"ls"}`}},
		{"localTools/start", ``, &wire.ToolsStartParams{}}, {"localTools/start", `{"profile":"p","waitMs":0}`, &wire.ToolsStartParams{Profile: "p"}},
		{"health", `{"profile":7}`, nil}, {"profile/list", ``, nil}, {"localTools/status", `{}`, nil}, {"no/such", `{"name":1}`, nil},
	} {
		r := oneMessage(c.method, c.params)
		if r.Fault != nil || !reflect.DeepEqual(r.Params, c.want) {
			t.Errorf("%s %s: got %#v, %v; want %#v", c.method, c.params, r.Params, r.Fault, c.want)
		}
	}
}

func TestMissingParams(t *testing.T) {
	for method, whole := range map[string]map[string]string{
		"initialize":       {"protocolVersion": "1"},
		"profile/set":      {"name": `"a"`, "serverUrl": `"b"`},
		"profile/use":      {"name": `"a"`},
		"auth/login":       {"email": `"a"`, "password": `"b"`},
		"history/turns":    {"workflowId": `"a"`, "interactionId": `"b"`},
		"history/snapshot": {"workflowId": `"a"`, "interactionId": `"b"`},
		"chat/start":       {"workflowId": `"a"`, "input": `"b"`},
		"chat/cancel":      {"streamId": `"a"`},
		"localTools/run":   {"tool": `"a"`},
	} {
		for missing := range whole {
			var members []string
			for name, value := range whole {
				if name != missing {
					members = append(members, fmt.Sprintf("%q:%s", name, value))
				}
			}
			params := "{" + strings.Join(members, ",") + "}"
			if r := oneMessage(method, params); r.Fault == nil || r.Fault.Code != wire.CodeInvalidParams || !strings.HasPrefix(r.Fault.Message, "params."+missing+" ") {
				t.Errorf("%s %s: got %v", method, params, r.Fault)
			}
		}
	}
	if r := oneMessage("chat/stop", `{"interactionId":""}`); r.Fault == nil || r.Fault.Code != wire.CodeInvalidParams {
		t.Errorf("got %v", r.Fault)
	}
}

// TestWrongParamsOfJSONRPC puts values of other types, and others that can't be, in place of good ones.
func TestWrongParamsOfJSONRPC(t *testing.T) {
	const text, flag, list = `null 1 true [] {}`, `null 1 "true" [] {}`, `null 1 "x" {} [1] [null]`
	const number = `null "1" true [] {} 1.5 1e300 -1e300`
	for _, c := range []struct{ method, param, rest, bad string }{
		{"initialize", "protocolVersion", ``, number},
		{"profile/set", "name", `,"serverUrl":"x"`, text}, {"profile/set", "serverUrl", `,"name":"x"`, text}, {"profile/use", "name", ``, text},
		{"auth/login", "email", `,"password":"x"`, text + ` ""`}, {"auth/login", "password", `,"email":"x"`, text + ` ""`},
		{"auth/login", "profile", `,"email":"x","password":"y"`, text}, {"auth/status", "profile", ``, text}, {"auth/logout", "profile", ``, text},
		{"agents/list", "page", ``, number + ` 0 -1 4294967296`}, {"agents/list", "pageSize", ``, number + ` 0 -1`}, {"agents/list", "search", ``, text},
		{"agents/list", "owner", ``, text + ` "" "everyone"`}, {"agents/list", "status", ``, text + ` "" "Draft"`}, {"agents/list", "includeHarness", ``, flag},
		{"history/turns", "workflowId", `,"interactionId":"i"`, text + ` ""`}, {"history/turns", "interactionId", `,"workflowId":"w"`, text + ` ""`},
		{"history/snapshot", "workflowName", `,"workflowId":"w","interactionId":"i"`, text},
		{"chat/start", "workflowId", `,"input":"x"`, text + ` ""`}, {"chat/start", "workflowName", `,"workflowId":"w","input":"x"`, text},
		{"chat/start", "interactionId", `,"workflowId":"w","input":"x"`, text}, {"chat/start", "input", `,"workflowId":"w"`, `null 5 true false`},
		{"chat/cancel", "streamId", ``, text}, {"chat/stop", "streamId", ``, text}, {"chat/stop", "interactionId", `,"streamId":"s"`, text},
		{"localTools/configure", "enabled", ``, flag}, {"localTools/configure", "allowDangerous", ``, flag}, {"localTools/configure", "cwd", ``, text},
		{"localTools/configure", "timeoutMs", ``, number}, {"localTools/configure", "allowedRoots", ``, list}, {"localTools/configure", "blockedCommands", ``, list},
		{"localTools/run", "tool", ``, text + ` ""`}, {"localTools/run", "args", `,"tool":"t"`, `null 1 "x" true []`},
		{"localTools/start", "waitMs", ``, number + ` -1`}, {"localTools/start", "profile", ``, text},
	} {
		for bad := range strings.FieldsSeq(c.bad) {
			params := `{"` + c.param + `":` + bad + c.rest + "}"
			if r := oneMessage(c.method, params); r.Fault == nil || r.Fault.Code != wire.CodeInvalidParams || !strings.HasPrefix(r.Fault.Message, "params."+c.param+" must be ") {
				t.Errorf("%s %s: got %v", c.method, params, r.Fault)
			}
		}
	}
}

// TestMessagesBorrowNothing changes the line after validation, as the source does.
func TestMessagesBorrowNothing(t *testing.T) {
	for method, params := range map[string]string{
		"profile/set": `{"name":"abcd","serverUrl":"abcd"}`, "auth/login": `{"email":"abcd","password":"abcd"}`, "agents/list": `{"search":"abcd"}`,
		"history/turns": `{"workflowId":"abcd","interactionId":"abcd"}`, "chat/start": `{"workflowId":"abcd","input":["abcd"]}`,
		"chat/stop": `{"streamId":"abcd","interactionId":"abcd"}`, "localTools/configure": `{"allowedRoots":["abcd"],"cwd":"abcd"}`,
		"localTools/run": `{"tool":"abcd","args":{"a":"abcd"}}`,
	} {
		line := []byte(params)
		r := oneMessage(method, unsafe.String(&line[0], len(line)))
		want := oneMessage(method, params)
		for i := range line {
			line[i] = 'x'
		}
		if r.Fault != nil || !reflect.DeepEqual(r.Params, want.Params) {
			t.Errorf("%s: got %+v, %v", method, r.Params, r.Fault)
		}
	}
}

func TestPasswordsAreNotPrinted(t *testing.T) {
	p := oneMessage("auth/login", `{"email":"a@b","password":"geheim"}`).Params
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		if text := fmt.Sprintf(form, p) + fmt.Sprintf(form, *p.(*wire.LoginParams)); strings.Contains(text, "geheim") {
			t.Errorf("%s prints %s", form, text)
		}
	}
}
