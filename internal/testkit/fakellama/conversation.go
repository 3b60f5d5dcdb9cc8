package fakellama

import (
	"strings"

	"github.com/tidwall/gjson"
)

// scriptOf is the script of the step that a request asks for: that of the last user's message which
// isn't part of the turn itself. A message without any word of a script, after no more of the
// assistant's than the script calls tools in, is taken for the engine's, which says that a call can't be
// read.
func scriptOf(request []byte) script {
	current := parseScript("")
	for _, message := range gjson.GetBytes(request, "messages").Array() {
		switch message.Get("role").Str {
		case "user":
			next := parseScript(message.Get("content").String())
			reprompt := !next.known && (len(current.calls) > 0 || current.say != "") && current.step > 0 && current.step <= current.again
			if !reprompt {
				current = next
			}
		case "assistant":
			current.step++
		}
	}
	return current.inStep()
}

// promptOf renders a request's tools and messages, a line each: what the model would read.
func promptOf(request []byte) string {
	var b strings.Builder
	for _, tool := range gjson.GetBytes(request, "tools").Array() {
		b.WriteString("tool " + tool.Raw + "\n")
	}
	for _, message := range gjson.GetBytes(request, "messages").Array() {
		b.WriteString(message.Get("role").String() + " " + message.Get("content").String() + message.Get("tool_calls").Raw + "\n")
	}
	return b.String() + "assistant"
}

// Message is one message of a request.
type Message struct {
	Role, Content string
	// Calls are the calls of an assistant's message, CallID is which one a tool's message answers.
	Calls  []Call
	CallID string
}

// Call is one tool call in a request.
type Call struct{ ID, Function, Arguments string }

// Messages are the messages of the request.
func (a Answer) Messages() (list []Message) {
	for _, m := range gjson.Get(a.Request, "messages").Array() {
		message := Message{Role: m.Get("role").String(), Content: m.Get("content").String(), CallID: m.Get("tool_call_id").String()}
		for _, c := range m.Get("tool_calls").Array() {
			message.Calls = append(message.Calls, Call{c.Get("id").String(), c.Get("function.name").String(), c.Get("function.arguments").String()})
		}
		list = append(list, message)
	}
	return list
}

// Tools are the names of the functions that the request offers.
func (a Answer) Tools() (names []string) {
	for _, tool := range gjson.Get(a.Request, "tools").Array() {
		names = append(names, tool.Get("function.name").String())
	}
	return names
}
