package tools

import (
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// oddScripts are servers that break the protocol in their answers.
func init() {
	scripts["odd list"] = func(s *script) {
		fmt.Fprint(s.out, "\xef\xbb\xbf") // stands before the first line
		s.tools = append(s.tools, `{"name":5}`, `"text"`, `{"name":"odd","description":7,"inputSchema":{}}`)
	}
	scripts["list that is none"] = func(s *script) { s.page = func(string) string { return `{"tools":{"a":1}}` } }
	scripts["odd initialize"] = func(s *script) {
		s.gate = func(method string) int {
			s.result("1", `{"protocolVersion":5}`)
			return hush
		}
	}
	scripts["closes its output"] = func(s *script) {
		signal.Ignore(syscall.SIGTERM)
		s.gate = func(string) int { _ = s.out.(io.Closer).Close(); return block() }
	}
	scripts["closes its output in a call"] = func(s *script) {
		s.offer("close", `{}`, func(call) int { _ = s.out.(io.Closer).Close(); return alive })
	}
	scripts["odd answers"] = func(s *script) {
		for name, answer := range map[string]string{
			"null error": `{"jsonrpc":"2.0","id":%s,"error":null,"result":{"content":"fine"}}`, "neither": `{"jsonrpc":"2.0","id":%s}`,
			"null": `{"jsonrpc":"2.0","id":%s,"result":null,"error":null}`, "text error": `{"jsonrpc":"2.0","id":%s,"error":"boom"}`,
			"text id": `{"jsonrpc":"2.0","id":"%s","result":{"content":["fine"]}}`, "no version": `{"id":%s,"result":{"content":"fine"}}`,
			"odd error": `{"jsonrpc":"2.0","id":%s,"error":{"code":"E5","message":"boom"}}`, "result of a number": `{"jsonrpc":"2.0","id":%s,"result":5}`,
			"no method": `{"jsonrpc":"2.0","id":%s,"method":null,"result":{"content":"fine"}}`, "overflow": `{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":1e999}}`,
			"deep": `{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`,
		} {
			s.offer(name, `{}`, func(c call) int { s.send(fmt.Sprintf(answer, c.id)); return alive })
		}
	}
}

func TestOddList(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: odd list")})
	if names := w.names(); !slices.Equal(names, []string{"x/echo", "x/hang", "x/notices", "x/odd"}) {
		t.Errorf("got %q", names)
	}
	wantIn(t, w.log.String(), "level=WARN", "server=x", "entries=2", "members=1")
	if strings.Contains(w.log.String(), "is no message") {
		t.Errorf("the byte order mark was noise: %s", w.log)
	}
}

func TestOddStart(t *testing.T) {
	for script, method := range map[string]string{"list that is none": "tools/list", "odd initialize": "initialize"} {
		w := newWorld(t, Options{Servers: scripted("x: " + script)})
		_, warnings := w.List(t.Context(), []string{"*"}, nil)
		if len(warnings) != 1 || !strings.HasSuffix(warnings[0], "is not there: it answered something that is no valid result of "+method) {
			t.Errorf("%s: got %q", script, warnings)
		}
	}
}

func TestOddAnswers(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: odd answers")})
	const invalid = "the tool's result can't be read: it answered something that is no valid result of tools/call"
	for name, want := range map[string]wire.ToolResult{
		"null error": {Status: wire.ToolOK, Text: "fine"}, "text id": {Status: wire.ToolOK, Text: "fine"},
		"no version": {Status: wire.ToolOK, Text: "fine"}, "no method": {Status: wire.ToolOK, Text: "fine"},
		"neither": {Status: wire.ToolError, Text: invalid}, "null": {Status: wire.ToolError, Text: invalid},
		"result of a number": {Status: wire.ToolError, Text: invalid}, "overflow": {Status: wire.ToolError, Text: invalid},
		"deep":       {Status: wire.ToolError, Text: invalid},
		"text error": {Status: wire.ToolError, Text: "the tool failed: boom"}, "odd error": {Status: wire.ToolError, Text: "the tool failed: boom"},
	} {
		got := w.Call(t.Context(), "x/"+name, "{}")
		got.Took = time.Duration(0)
		if got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if strings.Contains(w.log.String(), "server ended") {
		t.Errorf("it didn't survive: %s", w.log)
	}
}

// Nothing is kept of a request that was answered or cancelled, and an answer to what nobody asked is
// left as it is.
func TestAnswersForget(t *testing.T) {
	a := &answers{mended: func(string, *mending) { t.Error("something was mended") }}
	for i := range 3 {
		id, _ := jsonrpc.MakeID(float64(i))
		a.tell(&jsonrpc.Request{ID: id, Method: "tools/call"})
	}
	a.tell(&jsonrpc.Request{Method: "notifications/cancelled", Params: []byte(`{"requestId":0}`)})
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":0,"result":{"content":"late"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"2","error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":"twice"}}`,
	} {
		if _, err := a.decode([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	if len(a.asked) != 0 {
		t.Errorf("it still knows %v", a.asked)
	}
	if _, err := a.decode([]byte(`{"id":1,"error":"x"}`)); err == nil {
		t.Error("it takes what is no message")
	}
}

// A server that only closes its output is said to have done that, also while it is being ended.
func TestClosedOutput(t *testing.T) {
	w := newWorld(t, Options{Patience: 1200 * time.Millisecond, Servers: scripted("x: closes its output", "y: closes its output in a call")})
	testkit.Until(t, "the closed output is known", func() bool {
		_, warnings := w.List(t.Context(), []string{"x/*"}, nil)
		return strings.Contains(strings.Join(warnings, ""), "is not there: it closed its output")
	})
	wantIn(t, w.want(wire.ToolError, "y/close", "{}"), "it closed its output")
	testkit.Until(t, "the end is logged", func() bool {
		return strings.Contains(w.log.String(), "MCP server ended") && strings.Contains(w.log.String(), "it closed its output")
	})
}
