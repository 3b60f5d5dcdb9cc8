package llama

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestToolsInARequest(t *testing.T) {
	request := &wire.ModelRequest{
		Tools: []wire.Tool{
			{Name: "fs/list", Function: "fs__list", Description: "Lists \"é\"\n", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`},
			{Name: "web/get", Function: "web__get"},
		},
		Messages: []wire.Message{
			{Role: wire.RoleUser, Content: "look"},
			{Role: wire.RoleAssistant, Content: "Let me see.", Calls: []wire.ToolCall{
				{ID: "a", Function: "fs__list", Arguments: `{"path": "x\"y"}`}, {ID: "b", Function: "web__get", Arguments: ""},
			}},
			{Role: wire.RoleTool, Content: "é", CallID: "a"},
			{Role: wire.RoleTool, CallID: "b"},
			{Role: wire.RoleAssistant, Calls: []wire.ToolCall{{ID: "c", Function: "f", Arguments: `{"a":`}}},
		},
	}
	want := `{"messages":[{"role":"user","content":"look"},` +
		`{"role":"assistant","content":"Let me see.","tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"fs__list","arguments":"{\"path\": \"x\\\"y\"}"}},` +
		`{"id":"b","type":"function","function":{"name":"web__get","arguments":"{}"}}]},` +
		`{"role":"tool","content":"é","tool_call_id":"a"},{"role":"tool","content":"","tool_call_id":"b"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"malformed_arguments\":\"{\\\"a\\\":\"}"}}]}],` +
		`"tools":[{"type":"function","function":{"name":"fs__list","description":"Lists \"é\"\n","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"web__get","description":"","parameters":{"type":"object","properties":{}}}}],"parallel_tool_calls":true`
	prompt := appendPrompt(nil, "", request)
	if string(prompt) != want {
		t.Errorf("got  %s\nwant %s", prompt, want)
	}
	if body := appendBody(nil, "m", request); !json.Valid(body) || !strings.HasPrefix(string(body), want) {
		t.Errorf("the body is %s", body)
	}
}

// TestWhatTheServersParserTakes lists what a real llama-server (build 80fb11a) took and refused.
func TestWhatTheServersParserTakes(t *testing.T) {
	deep := strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth)
	for text, want := range map[string]bool{
		`{}`: true, ` {"a": [1, -2.5e3, true, null, {"b":"\\"}]} `: true, `{"a":"\u0000\ud83d\ude00\uD83D\uDE00"}`: true,
		`{"a":-1e-999}`: true, `{"a":123456789012345678901234567890}`: true, `{"a":"é"}`: true, `{"a":1,"a":2}`: true, `{"a":"1e999"}`: true,
		``: false, `{`: false, `5`: false, `[1]`: false, `"x"`: false, `null`: false, `{"a":01}`: false, `{"a":1,}`: false, `{'a':1}`: false,
		`{"a":1e999}`: false, `{"a":-1e999}`: false, `{"a":` + strings.Repeat("9", 400) + `}`: false, `{"a":` + deep + `}`: false,
		`{"a":"\ud83d"}`: false, `{"a":"\ude00"}`: false, `{"a":"\ud83dx"}`: false, `{"a":"\ud83d\ud83d"}`: false, `{"a":"\ud83d\u0041"}`: false,
		`{"\udfff":1}`: false, `{"a":"\\ud83d"}`: true, `{"a":"\ud83d\\ude00"}`: false, `{"a":"\uDbff\uDfff"}`: true, "{\"a\":\"\n\"}": false,
	} {
		if got := readableObject(text); got != want {
			t.Errorf("%.60s: %t", text, got)
		}
	}
}

// FuzzArguments renders any arguments: the server always gets an object, the very one where it was one.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":1e999}`, `{"a":`, ``, "\xff", `[{"a":-0.1}]`, "{\"\xff\":1}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		body := appendCalls(nil, []wire.ToolCall{{Arguments: arguments}})
		var call struct{ Function struct{ Arguments string } }
		if err := json.Unmarshal(body, &call); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(call.Function.Arguments), &object); err != nil {
			t.Fatalf("%q became %s: %v", arguments, call.Function.Arguments, err)
		}
		var original map[string]any
		if readableObject(arguments) && (json.Unmarshal([]byte(arguments), &original) != nil || !reflect.DeepEqual(original, object)) {
			t.Fatalf("%q became %s", arguments, call.Function.Arguments)
		}
	})
}
