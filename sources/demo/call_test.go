package demo

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

const offeredTools = `,"tools":[
	{"type":"function","function":{"name":"fs__list","parameters":{"type":"object","properties":{}}}},
	{"type":"function","function":{"name":"web__get","parameters":{"type":"object","required":["url","ÿ😀","depth","how"],"properties":{
		"url":{"type":["string","null"]},"ÿ😀":{"type":"boolean"},"depth":{"type":"integer"},"how":{"enum":["fast","slow"]},"more":{"type":"string"}}}}}]`

func TestToolCall(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	tests := []struct{ name, messages, tools, wantName, wantArguments string }{
		{"the first", `{"role":"user","content":"please /call"}`, offeredTools, "fs__list", `{}`},
		{"the named", `{"role":"user","content":"/call web__get"}`, offeredTools, "web__get", `{"url":"","ÿ😀":true,"depth":1,"how":"fast"}`},
		{"no tools", `{"role":"user","content":"/call"}`, ``, "", ""},
		{"not asked", `{"role":"user","content":"call me"}`, offeredTools, "", ""},
		{"forbidden", `{"role":"user","content":"/call"}`, offeredTools + `,"tool_choice":"none"`, "", ""},
		{"remembered", `{"role":"user","content":"<memory>\n- please /call web__get\n</memory>\n\nhello"}`, offeredTools, "", ""},
		{"asked behind the memory", `{"role":"user","content":"<memory>\n- web__get\n</memory>\n\n/call"}`, offeredTools, "fs__list", `{}`},
		{"after the result", `{"role":"user","content":"/call"},{"role":"tool","content":"ok"}`, offeredTools, "", ""},
	}
	for _, test := range tests {
		body := `{"messages":[` + test.messages + `]` + test.tools
		_, whole := post(t, client, "/v1/chat/completions", body+`}`)
		name, arguments := wholeCall(t, whole)
		_, events := post(t, client, "/v1/chat/completions", body+`,"stream":true}`)
		streamedName, streamedArguments := streamedCall(t, events)
		if name != test.wantName || streamedName != test.wantName {
			t.Errorf("%s: called %q whole, %q streamed, want %q", test.name, name, streamedName, test.wantName)
		}
		if !sameJSON(arguments, test.wantArguments) || !sameJSON(streamedArguments, test.wantArguments) {
			t.Errorf("%s: arguments %s whole, %s streamed, want %s", test.name, arguments, streamedArguments, test.wantArguments)
		}
		reason := map[bool]string{true: `"finish_reason":"tool_calls"`, false: `"finish_reason":"stop"`}[test.wantName != ""]
		if !strings.Contains(whole, reason) || !strings.Contains(events, reason) {
			t.Errorf("%s: no %s", test.name, reason)
		}
	}
}

type calls []struct {
	ID       string
	Function struct{ Name, Arguments string }
}

func wholeCall(t *testing.T, body string) (name, arguments string) {
	t.Helper()
	var answer struct {
		Choices []struct {
			Message struct {
				ToolCalls calls `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, call := range answer.Choices[0].Message.ToolCalls {
		name, arguments = call.Function.Name, call.Function.Arguments
	}
	return name, arguments
}

func streamedCall(t *testing.T, events string) (name, arguments string) {
	t.Helper()
	for _, event := range regexp.MustCompile(`data: (\{.*\})`).FindAllStringSubmatch(events, -1) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					ToolCalls calls `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(event[1]), &chunk); err != nil {
			t.Fatalf("%v: %s", err, event[1])
		}
		for _, call := range chunk.Choices[0].Delta.ToolCalls {
			name += call.Function.Name
			arguments += call.Function.Arguments
		}
	}
	return name, arguments
}

func sameJSON(a, b string) bool {
	var left, right any
	if a == "" || b == "" {
		return a == b
	}
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return false
	}
	l, _ := json.Marshal(left) // maps encode in the order of their keys
	r, _ := json.Marshal(right)
	return string(l) == string(r)
}

func TestExampleArguments(t *testing.T) {
	for parameters, want := range map[string]string{
		``:                    `{}`,
		`5`:                   `{}`,
		`{"required":["a"]}`:  `{"a":null}`,
		`{"required":"a"}`:    `{}`,
		`{"type":"object"}`:   `{}`,
		`{"required":["\""]}`: `{"\"":null}`,
		`{"required":["o","l"],"properties":{"o":{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}},"l":{"type":"array"}}}`: `{"o":{"n":1},"l":[]}`,
	} {
		if got := exampleArguments(json.RawMessage(parameters)); got != want {
			t.Errorf("%s: %s, want %s", parameters, got, want)
		}
	}
}
