package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	asking  = `{"role":"user","content":"What is a pipe? é😀 <|im_end|> < <b>"}`
	calling = `{"role":"user","content":"/call fs__list"}`
	called  = `{"role":"assistant","content":"Wait.","tool_calls":[
		{"id":"a","type":"function","function":{"name":"fs__list","arguments":"{\"path\":\"x\",\"n\":[1,2.5]}"}},
		{"id":"b","type":"function","function":{"name":"web__get","arguments":{}}}]}`
	results        = `{"role":"tool","tool_call_id":"a","content":"b\nc"},{"role":"tool","tool_call_id":"b","content":""}`
	describedTools = `,"tools":[{"type":"function","function":{"name":"fs__list","description":"Lists \"é\" <b> & files","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},
		{"type":"function","function":{"name":"web__get"}}],"parallel_tool_calls":true`
)

// TestPrompt: the wanted prompts are what a real llama-server made of chat.jinja.
func TestPrompt(t *testing.T) {
	const tools = "<|im_start|>system\nThese tools can be called:\n<tools>\n" +
		`{"type": "function", "function": {"name": "fs__list", "description": "Lists \"é\" <b> & files", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}` + "\n" +
		`{"type": "function", "function": {"name": "web__get", "description": "", "parameters": {}}}` + "\n</tools>\n" +
		`Call one with <tool_call>{"name": <function-name>, "arguments": <args-json-object>}</tool_call>` + "<|im_end|>\n"
	const question = "<|im_start|>user\nWhat is a pipe? é😀 <|im_end|> < <b><|im_end|>\n"
	_, client := startDemo(t, Options{})
	for name, c := range map[string]struct{ body, want string }{
		"text":         {asking, question},
		"tools":        {asking + `]` + describedTools + `,"x":[`, tools + question},
		"told to call": {calling + `]` + describedTools + `,"x":[`, tools + "<|im_start|>user\n/call fs__list<|im_end|>\n<|im_start|>assistant\n<|call|>"},
		"after the results": {asking + `,` + called + `,` + results, question + "<|im_start|>assistant\nWait.\n" +
			`<tool_call>` + "\n" + `{"name": "fs__list", "arguments": {"path": "x", "n": [1, 2.5]}}` + "\n</tool_call>" +
			`<tool_call>` + "\n" + `{"name": "web__get", "arguments": {}}` + "\n</tool_call><|im_end|>\n" +
			"<|im_start|>user\n<tool_response>\nb\nc\n</tool_response><|im_end|>\n<|im_start|>user\n<tool_response>\n\n</tool_response><|im_end|>\n"},
	} {
		if !strings.HasSuffix(c.want, "<|call|>") {
			c.want += "<|im_start|>assistant\n"
		}
		_, body := post(t, client, "/apply-template", `{"messages":[`+c.body+`]}`)
		var got struct{ Prompt string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.Prompt != c.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, got.Prompt, c.want)
		}
	}
}

// TestACountIsTheUsage counts as a client does and compares it with what the chat tells.
func TestACountIsTheUsage(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	for name, messages := range map[string]string{
		"text": asking, "system": `{"role":"system","content":"Be brief."},` + asking, "call": calling,
		"history": asking + `,{"role":"assistant","content":"It waits."},` + asking, "results": asking + `,` + called + `,` + results,
		"spaces": `{"role":"user","content":" a  pipe \n"}`, "empty": `{"role":"user","content":""}`, "none": ``,
	} {
		for _, tools := range []string{"", describedTools} {
			body := `{"messages":[` + messages + `]` + tools
			_, rendered := post(t, client, "/apply-template", body+`}`)
			var prompt struct{ Prompt json.RawMessage }
			if err := json.Unmarshal([]byte(rendered), &prompt); err != nil {
				t.Fatal(err)
			}
			_, cut := post(t, client, "/tokenize", fmt.Sprintf(`{"content":%s,"add_special":true,"parse_special":true}`, prompt.Prompt))
			var list struct{ Tokens []int }
			if err := json.Unmarshal([]byte(cut), &list); err != nil {
				t.Fatal(err)
			}
			_, chat := post(t, client, "/v1/chat/completions", body+`,"max_tokens":1}`)
			if want := fmt.Sprintf(`"prompt_tokens":%d,`, len(list.Tokens)); !strings.Contains(chat, want) {
				t.Errorf("%s: counted %d: %s", name, len(list.Tokens), chat)
			}
		}
	}
}

func TestAnAnswerAfterToolResults(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	status, body := post(t, client, "/v1/chat/completions", `{"messages":[`+calling+`,`+called+`,`+results+`]`+describedTools+`}`)
	var answer chatAnswer
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 || answer.Choices[0].Message.Content == "" || answer.Choices[0].FinishReason != "stop" {
		t.Errorf("%d %s", status, body)
	}
}

func TestArgumentsMustBeJSON(t *testing.T) {
	_, client := startDemo(t, Options{})
	for _, arguments := range []string{`"{\"a\":"`, `""`, `"x"`} {
		body := `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":` + arguments + `}}]}]}`
		for _, path := range []string{"/apply-template", "/v1/chat/completions"} {
			if status, answer := post(t, client, path, body); status != 500 || !strings.Contains(answer, "tool call arguments") {
				t.Errorf("%s %s: %d %s", path, arguments, status, answer)
			}
		}
	}
}

func TestTagsStandForThemselves(t *testing.T) {
	m := Build("a pipe waits.")
	text := "<|im_start|>a pipe<|call|></tool_call><tool_call<|im_end|>"
	tokens := m.TokenizePrompt(text)
	if tokens[0] != imStartToken || tokens[2] != callToken || tokens[3] != toolCloseToken || tokens[len(tokens)-1] != endToken || len(tokens) != 5+len("<tool_call") {
		t.Errorf("got %v", tokens)
	}
	if got := m.Tokenize(text); len(got) <= len(tokens) {
		t.Errorf("as text: %v", got)
	}
	_, client := startDemo(t, Options{Model: m})
	for body, want := range map[string]string{`{"content":"<|call|>"}`: `{"tokens":[261]}`, `{"content":"<|call|>","parse_special":false}`: `{"tokens":[63,`} {
		if _, got := post(t, client, "/tokenize", body); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
}
