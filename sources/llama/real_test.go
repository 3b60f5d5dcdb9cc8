//go:build unix

package llama

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// newReal returns a real llama-server with the demo model, of two slots with 4096 tokens each.
func newReal(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	o.Binary, o.ModelPath = os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL")
	if o.Binary == "" || o.ModelPath == "" {
		t.Skip("LLAMA_SERVER is not set: make test builds llama-server and sets it")
	}
	o.CtxSize, o.Parallel = 4096, 2
	o.Args = append(o.Args, "-t", "1", "--no-warmup")
	return newServer(t, o)
}

var (
	realTools = []wire.Tool{
		{Function: "fs__list", Description: "Lists \"é\" <b> & files\n", Schema: `{"type":"object","properties":{"path":{"type":"string"},"deep":{"type":"boolean"}},"required":["path"]}`},
		{Function: "time__now"},
	}
	asking  = wire.Message{Role: wire.RoleUser, Content: "Hello there, what is a pipe? é😀"}
	brief   = wire.Message{Role: wire.RoleSystem, Content: "Be brief."}
	calling = wire.Message{Role: wire.RoleUser, Content: "/call fs__list"}
)

func calls(text string, list ...wire.ToolCall) wire.Message {
	return wire.Message{Role: wire.RoleAssistant, Content: text, Calls: list}
}

func result(id, text string) wire.Message {
	return wire.Message{Role: wire.RoleTool, CallID: id, Content: text}
}

// ask runs one step and returns what came; the text is in the collector.
func ask(t *testing.T, lease *Lease, request *wire.ModelRequest) (*collector, []wire.CallDelta) {
	t.Helper()
	c := &collector{}
	var deltas []wire.CallDelta
	stream := lease.Stream("", request)
	stream.next = c
	c.pushed = func() { deltas = append(deltas, stream.tokens.Calls...) }
	if err := stream.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, deltas
}

// TestRealCount holds the count to what the server itself says that a chat's prompt took.
func TestRealCount(t *testing.T) {
	lease := acquire(t, newReal(t, ServerOptions{}))
	defer lease.Release()
	if got := lease.ContextSize(); got != 4096 {
		t.Errorf("the context holds %d tokens", got)
	}
	list := wire.ToolCall{ID: "a", Function: "fs__list", Arguments: `{"path": "x", "n":1.50}`}
	for name, request := range map[string]wire.ModelRequest{
		"text":                {Messages: []wire.Message{asking}},
		"system prompt":       {Messages: []wire.Message{brief, asking}},
		"tools":               {Messages: []wire.Message{brief, asking}, Tools: realTools},
		"told to call":        {Messages: []wire.Message{calling}, Tools: realTools},
		"history":             {Messages: []wire.Message{asking, calls("It waits."), asking}, Tools: realTools},
		"a call":              {Messages: []wire.Message{asking, calls("", list), result("a", "b\nc")}, Tools: realTools},
		"text and two calls":  {Messages: []wire.Message{asking, calls("Wait.", list, list), result("a", ""), result("a", "é")}, Tools: realTools},
		"calls without tools": {Messages: []wire.Message{asking, calls("", list), result("a", "b")}},
		"malformed arguments": {Messages: []wire.Message{asking, calls("", wire.ToolCall{ID: "a", Function: "f", Arguments: `{"a":`}), result("a", "no JSON")}, Tools: realTools},
		"odd arguments":       {Messages: []wire.Message{asking, calls("", wire.ToolCall{ID: "a", Function: "f", Arguments: `{"a":1e999}`}), result("a", "no")}, Tools: realTools},
		"half a character":    {Messages: []wire.Message{asking, calls("", wire.ToolCall{ID: "a", Function: "f", Arguments: `{"a":"\ud83d"}`}), result("a", "\xff")}, Tools: realTools},
		"no arguments":        {Messages: []wire.Message{asking, calls("", wire.ToolCall{Function: "time__now"}), result("", "noon")}, Tools: realTools},
		"an unreadable tool":  {Messages: []wire.Message{asking}, Tools: []wire.Tool{{Function: "f", Schema: `{"type":"object","x":1e999}`}}},
		"the template's tags": {Messages: []wire.Message{{Role: wire.RoleUser, Content: "<|im_start|>system\n<|im_end|><tool_call> </s> <s>"}}},
	} {
		request.MaxTokens = 2
		count, err := lease.Count(t.Context(), "", &request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c, _ := ask(t, lease, &request); c.usage == nil || int64(count) != c.usage.PromptTokens {
			t.Errorf("%s: counted %d; the server's usage is %v", name, count, c.usage)
		}
	}
}

func TestRealToolCall(t *testing.T) {
	lease := acquire(t, newReal(t, ServerOptions{}))
	defer lease.Release()
	request := &wire.ModelRequest{Messages: []wire.Message{brief, calling}, Tools: realTools}
	c, deltas := ask(t, lease, request)
	if len(deltas) < 2 || deltas[0].ID == "" || deltas[0].Function == "" || c.finish != "tool_calls" {
		t.Fatalf("calls %+v, finish %q, text %q", deltas, c.finish, c.text.String())
	}
	call := wire.ToolCall{ID: deltas[0].ID, Function: deltas[0].Function}
	for _, d := range deltas {
		if d.Index != 0 {
			t.Errorf("a second call: %+v", d)
		}
		call.Arguments += d.Arguments
	}
	if !json.Valid([]byte(call.Arguments)) {
		t.Errorf("the arguments are %s", call.Arguments)
	}
	remembered := wire.Message{Role: wire.RoleUser, Content: "<memory>\n- " + calling.Content + "\n</memory>\n\nhello"}
	if c, deltas := ask(t, lease, &wire.ModelRequest{Messages: []wire.Message{remembered}, Tools: realTools}); len(deltas) > 0 || c.text.Len() == 0 {
		t.Errorf("what is remembered asks for %+v, text %q", deltas, c.text.String())
	}
	request.Messages = append(request.Messages, calls("", call), result(call.ID, "a.txt\nb.txt"))
	if c, deltas := ask(t, lease, request); c.text.Len() == 0 || len(deltas) > 0 || c.finish != "stop" {
		t.Errorf("after the result: %+v, finish %q, text %q", deltas, c.finish, c.text.String())
	}
}

// TestRealSchemas offers tools with every odd schema to a server that refuses a request for one of them.
func TestRealSchemas(t *testing.T) {
	lease := acquire(t, newReal(t, ServerOptions{}))
	defer lease.Release()
	for schema := range schemas {
		alone, inside := wire.Tool{Function: "f", Schema: schema}, wire.Tool{Function: "g", Schema: `{"type":"object","properties":{"x":` + cmp.Or(schema, "{}") + `},"required":["x"]}`}
		stream := lease.Stream("", &wire.ModelRequest{Messages: []wire.Message{calling}, Tools: []wire.Tool{alone, inside}, MaxTokens: 1})
		stream.next = &collector{}
		if err := stream.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestRealOverflow(t *testing.T) {
	lease := acquire(t, newReal(t, ServerOptions{}))
	defer lease.Release()
	request := &wire.ModelRequest{Messages: []wire.Message{{Role: wire.RoleUser, Content: strings.Repeat("x ", 10_000)}}}
	stream := lease.Stream("", request)
	stream.next = &collector{}
	err := stream.Run(t.Context())
	var overflow *wire.Overflow
	if !errors.As(err, &overflow) || overflow.ContextSize != 4096 {
		t.Fatalf("got %#v", err)
	}
	if count, err := lease.Count(t.Context(), "", request); err != nil || count != overflow.PromptTokens {
		t.Errorf("counted %d, %v; the server says %d", count, err, overflow.PromptTokens)
	}
}

func TestRealEmbeddings(t *testing.T) {
	s := newReal(t, ServerOptions{Embeddings: true, Args: []string{"--pooling", "mean"}})
	vectors, err := s.Embed(t.Context(), "", []string{"a pipe waits", "something else", "a pipe waits", strings.Repeat("x ", 500)})
	if err != nil {
		t.Fatal(err)
	}
	product := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if same, other := product(vectors[0], vectors[2]), product(vectors[0], vectors[1]); math.Abs(same-1) > 1e-3 || other > 0.9 {
		t.Errorf("equal texts: %v, different ones: %v", same, other)
	}
	if _, err := s.Embed(t.Context(), "", []string{strings.Repeat("x ", 5000)}); err == nil || !strings.Contains(err.Error(), "HTTP") {
		t.Errorf("a text that is too long: %v", err)
	}
	if _, err := newReal(t, ServerOptions{}).Embed(t.Context(), "", []string{"x"}); err == nil || !strings.Contains(err.Error(), "--embeddings") {
		t.Errorf("a server for chats: %v", err)
	}
}
