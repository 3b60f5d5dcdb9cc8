package fakellama

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// turn is a conversation as a client sends it.
type turn []map[string]any

func (t turn) say(role, text string) turn {
	return append(t, map[string]any{"role": role, "content": text})
}

// answer is what a client reads of a stream.
type answer struct {
	text, finish string
	calls        []Call
}

func ask(t *testing.T, s *Server, messages turn) answer {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"messages": messages, "tools": []any{map[string]any{"function": map[string]any{"name": "f"}}}})
	response, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	var a answer
	for line := range strings.Lines(string(text)) {
		chunk := gjson.Parse(strings.TrimPrefix(line, "data: "))
		a.text += chunk.Get("choices.0.delta.content").String()
		a.finish += chunk.Get("choices.0.finish_reason").String()
		for _, c := range chunk.Get("choices.0.delta.tool_calls").Array() {
			if c.Get("id").String() != "" {
				a.calls = append(a.calls, Call{ID: c.Get("id").String(), Function: c.Get("function.name").String()})
			}
			a.calls[c.Get("index").Int()].Arguments += c.Get("function.arguments").String()
		}
	}
	return a
}

// shown are calls without their ids, which are random.
func (a answer) shown() (list []string) {
	for _, c := range a.calls {
		list = append(list, c.Function+" "+c.Arguments)
	}
	return list
}

func TestCalls(t *testing.T) {
	long := `{"text":"` + strings.Repeat("é", 20) + `"}`
	for name, c := range map[string]struct {
		messages turn
		calls    []string
		text     string
	}{
		"one":                    {turn{}.say("user", "call=f"), []string{"f {}"}, ""},
		"text before it":         {turn{}.say("user", "call=f n=2"), []string{"f {}"}, " w0 w1"},
		"several":                {turn{}.say("user", `call=f args={"a":1} call=g call=h args={bad calls=2`), []string{`f {"a":1}`, "g {}", "h {bad", `f {"a":1}`, "g {}", "h {bad"}, ""},
		"escaped":                {turn{}.say("user", `call=f args={"a":%20"b%0A"}`), []string{"f {\"a\": \"b\n\"}"}, ""},
		"characters stay whole":  {turn{}.say("user", "piece=1 call=f args="+long), []string{"f " + long}, ""},
		"after the result":       {turn{}.say("user", "call=f").say("assistant", "").say("tool", "call=g"), nil, " w0 w1 w2 w3 w4"},
		"again":                  {turn{}.say("user", "call=f again=2").say("assistant", "").say("tool", ""), []string{"f {}"}, ""},
		"not once more":          {turn{}.say("user", "call=f again=2 n=1").say("assistant", "").say("tool", "").say("assistant", "").say("tool", ""), nil, " w0"},
		"as text":                {turn{}.say("user", `say=<tool_call>{"name":%20"f"}`), nil, `<tool_call>{"name": "f"}`},
		"after a re-prompt":      {turn{}.say("user", "say=x again=2").say("assistant", "x").say("user", "that was no call"), nil, "x"},
		"after the last of them": {turn{}.say("user", "say=x n=1").say("assistant", "x").say("user", "that was no call"), nil, " w0"},
		"the next turn":          {turn{}.say("user", "call=f").say("assistant", "").say("tool", "").say("assistant", "ok").say("user", "hi"), nil, " w0 w1 w2 w3 w4"},
		"another call":           {turn{}.say("user", "call=f").say("assistant", "").say("tool", "").say("assistant", "ok").say("user", "call=g"), []string{"g {}"}, ""},
		"what memory found":      {turn{}.say("user", "<memory>\ncall=f\n</memory>\n\nn=1"), nil, " w0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, Start(t, Options{}), c.messages)
			finish := map[bool]string{true: "tool_calls", false: "stop"}[len(c.calls) > 0]
			if !reflect.DeepEqual(got.shown(), c.calls) || got.text != c.text || got.finish != finish {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestFaultsOfOneStep(t *testing.T) {
	s := Start(t, Options{})
	first := turn{}.say("user", "call=f n=1 err=0 on=1")
	if got := ask(t, s, first); len(got.calls) != 1 || got.finish != "tool_calls" {
		t.Errorf("the first step: %+v", got)
	}
	if got := ask(t, s, first.say("assistant", "").say("tool", "")); got.finish != "" {
		t.Errorf("the second step: %+v", got)
	}
	if got := ask(t, s, turn{}.say("user", "call=f cut=0")); got.finish != "" || len(got.calls) > 0 {
		t.Errorf("before a call: %+v", got)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	s := Start(t, Options{})
	messages := turn{}.say("user", "n=1")
	messages = append(messages, map[string]any{"role": "assistant", "content": "", "tool_calls": []any{
		map[string]any{"id": "a", "function": map[string]any{"name": "f", "arguments": `{"x":1}`}}}})
	messages = append(messages, map[string]any{"role": "tool", "tool_call_id": "a", "content": "done"})
	ask(t, s, messages)
	got := s.WaitAnswers(1)[0]
	want := []Message{{Role: "user", Content: "n=1"}, {Role: "assistant", Calls: []Call{{"a", "f", `{"x":1}`}}}, {Role: "tool", Content: "done", CallID: "a"}}
	if !reflect.DeepEqual(got.Messages(), want) || !reflect.DeepEqual(got.Tools(), []string{"f"}) {
		t.Errorf("%+v, tools %v", got.Messages(), got.Tools())
	}
}

func TestText(t *testing.T) {
	for steer, want := range map[string]string{"n=2": " w0 w1", "call=f n=1": " w0", "say=x": " w0 w1 w2 w3 w4"} {
		if got := Text(steer); got != want {
			t.Errorf("%s: %q", steer, got)
		}
	}
}
