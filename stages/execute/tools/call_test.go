package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func TestCall(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: plain")})
	if text := w.want(wire.ToolOK, "x/echo", `{"text":"<ä>","n":9007199254740993}`); text != `{"text":"<ä>","n":9007199254740993}` {
		t.Errorf("the arguments came as %s", text)
	}
	for name, c := range map[string]struct {
		tool, args string
		retryable  bool
		want       []string
	}{
		"no such tool":    {"x/nothing", "{}", false, []string{`no tool "x/nothing"`, "x/echo, x/hang, x/notices"}},
		"no such server":  {"y/echo", "{}", false, []string{`no tool "y/echo"`, "x/echo"}},
		"no server":       {"echo", "{}", false, []string{`no tool "echo"`}},
		"missing":         {"x/echo", "{}", true, []string{"was not called", `missing properties: ["text"]`}},
		"wrong type":      {"x/echo", `{"text":5}`, true, []string{"/properties/text", "want \"string\""}},
		"not even JSON":   {"x/echo", `{"text":`, true, []string{"no JSON object"}},
		"no JSON object":  {"x/echo", `[]`, true, []string{"no JSON object"}},
		"nothing at all?": {"x/echo", ``, true, []string{"no JSON object"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := w.Call(t.Context(), c.tool, c.args)
			if result.Status != wire.ToolError || result.Retryable != c.retryable {
				t.Errorf("got %+v", result)
			}
			wantIn(t, result.Text, c.want...)
		})
	}
	if text := w.want(wire.ToolOK, "x/notices", "{}"); strings.Contains(text, "cancelled") {
		t.Errorf("something was sent: %s", text)
	}
}

func TestCallResults(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: results")})
	for name, want := range map[string]wire.ToolResult{
		"texts":      {Status: wire.ToolOK, Text: "one\ntwo"},
		"structured": {Status: wire.ToolOK, Text: `{"a":"<b>"}`},
		"both":       {Status: wire.ToolOK, Text: "text"},
		"media":      {Status: wire.ToolOK, Text: "[image, image/png, 5 bytes]\n[audio, audio/wav, 2 bytes]"},
		"link":       {Status: wire.ToolOK, Text: "[resource, a file:///a, text/plain, 7 bytes]"},
		"embedded":   {Status: wire.ToolOK, Text: "inside\n[resource, x:2, a/b, 5 bytes]"},
		"empty":      {Status: wire.ToolOK},
		"error":      {Status: wire.ToolError, Text: "no such file, token [redacted]"},
		"invalid":    {Status: wire.ToolOK, Text: "a\uFFFDb"},
		"unknown":    {Status: wire.ToolOK, Text: `[an item of type "hologram" that can't be shown]`},
		"rpc error":  {Status: wire.ToolError, Text: "the tool failed: it broke, token [redacted]"},
		"bad params": {Status: wire.ToolError, Text: "the tool failed: a is missing", Retryable: true},
	} {
		got := w.Call(t.Context(), "x/"+name, "{}")
		got.Took = 0
		if got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestCallNoiseAndBatches(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("noise: noise", "batches: batches", "chatty: chatty stderr")})
	for range 3 {
		w.want(wire.ToolOK, "noise/echo", `{"text":"x"}`)
	}
	wantIn(t, w.log.String(), "Listening...", "is no message", `{\"level\":\"info\"}`)
	if text := w.want(wire.ToolOK, "batches/batch", "{}"); text != "batched" {
		t.Errorf("got %q", text)
	}
	testkit.Until(t, "the log message of the batch", func() bool { return strings.Contains(w.log.String(), `\"data\":\"hi\"`) })
	w.want(wire.ToolOK, "chatty/echo", `{"text":"x"}`)
}

func TestCallLarge(t *testing.T) {
	w := newWorld(t, Options{MaxMessage: testMessage, Servers: scripted("x: large")})
	if text := w.want(wire.ToolOK, "x/large", "{}"); len(text) != testMessage*3/4 {
		t.Errorf("got %d bytes", len(text))
	}
	wantIn(t, w.want(wire.ToolError, "x/endless", "{}"), "more than 1 MiB")
	w.want(wire.ToolOK, "x/echo", `{"text":"the next life"}`)
}

// The server is told of a cancelled call and of one whose time is over, and lives on.
func TestCallGivesUp(t *testing.T) {
	servers := scripted("x: plain")
	server := servers["x"]
	server.Timeout = 3 * time.Second // it has to start within that on a busy machine, too
	servers["slow"] = server
	w := newWorld(t, Options{Servers: servers})
	w.names()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	result := w.Call(ctx, "x/hang", "{}")
	if result.Status != wire.ToolCancelled || result.Retryable || result.Text != "the tool call was cancelled" {
		t.Errorf("got %+v", result)
	}
	result = w.Call(t.Context(), "slow/hang", "{}")
	if result.Status != wire.ToolTimeout || !result.Retryable {
		t.Errorf("got %+v", result)
	}
	wantIn(t, result.Text, "within 3s", `"slow"`)
	for _, name := range []string{"x", "slow"} {
		testkit.Until(t, "the server was told", func() bool {
			return strings.Contains(w.want(wire.ToolOK, name+"/notices", "{}"), "notifications/cancelled {")
		})
	}
	// Before the call is made it is cancelled too.
	if result := w.Call(ctx, "x/hang", "{}"); result.Status != wire.ToolCancelled {
		t.Errorf("got %+v", result)
	}
}

// A server that reads nothing keeps nobody: not the caller, not the one who cancels.
func TestCallOfTheDeaf(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: deaf")})
	w.want(wire.ToolOK, "x/deaf", "{}")
	large := `{"text":"` + strings.Repeat("x", 256<<10) + `"}` // more than a pipe holds
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if result := w.Call(ctx, "x/echo", large); result.Status != wire.ToolCancelled {
			t.Fatalf("got %.300s", result.Text)
		}
	}
}

func TestCallOfTheDead(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: dies in a call", "never: dies at start", "early: dies after initialize")})
	result := w.Call(t.Context(), "x/die", "{}")
	if result.Status != wire.ToolError || !result.Retryable {
		t.Errorf("got %+v", result)
	}
	wantIn(t, result.Text, `MCP server "x" ended during the call`, "exit status 3", "out of cheese")
	w.want(wire.ToolOK, "x/echo", `{"text":"the next life"}`)
	for name, status := range map[string]string{"never": "exit status 7", "early": "exit status 5"} {
		result = w.Call(t.Context(), name+"/echo", `{"text":""}`)
		if result.Status != wire.ToolError || !result.Retryable {
			t.Errorf("got %+v", result)
		}
		wantIn(t, result.Text, "ended during its start", status)
	}
	for _, status := range w.Status() {
		if status.Name == "never" && (status.State != StateFailed || !strings.Contains(status.Fault, "[redacted]")) {
			t.Errorf("got %+v", status)
		}
	}
}

// A call that the last life can't have seen is made in the next one, and no call is made twice.
func TestCallOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "count")
	servers := scripted("x: counts")
	server := servers["x"]
	server.Env = map[string]string{"COUNT": file}
	servers["x"] = server
	w := newWorld(t, Options{Servers: servers})
	const calls = 25
	answered := 0
	for range calls {
		if result := w.Call(t.Context(), "x/count", "{}"); result.Status == wire.ToolOK {
			answered++
		}
	}
	text, _ := os.ReadFile(file)
	if made := strings.Count(string(text), "\n"); made < answered || made > calls || answered < calls/2 {
		t.Errorf("%d calls, %d answered, %d made", calls, answered, made)
	}
}

// Those who wait for one start get one life.
func TestCallsShareAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		spawn := func(name string, server Server) (Process, error) {
			starts++
			time.Sleep(time.Second)
			return spawnMemory(name, server)
		}
		w := newWorld(t, Options{Servers: scripted("x: plain"), Spawn: spawn})
		for range 20 {
			go func() {
				if result := w.Call(t.Context(), "x/echo", `{"text":""}`); result.Status != wire.ToolOK {
					t.Errorf("got %+v", result)
				}
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if result := w.Call(ctx, "x/echo", `{"text":""}`); result.Status != wire.ToolCancelled {
			t.Errorf("got %+v", result)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if starts != 1 {
			t.Errorf("%d starts", starts)
		}
	})
}

// What a server asks of us is answered: its ping, that there are no roots, and the rest with no.
func TestServerAsks(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: asks")})
	w.want(wire.ToolOK, "x/ask", "{}")
	var text string
	testkit.Until(t, "five answers", func() bool {
		text = w.want(wire.ToolOK, "x/notices", "{}")
		return strings.Count(text, "answer ") == 5
	})
	wantIn(t, text, `answer "q0" {}`, `answer "q1" {"roots":[]}`, `answer "q2" {"code":`, `answer "q3" {"code":`, `answer "q4" {"code":-32601`)
	testkit.Until(t, "the log message", func() bool { return strings.Contains(w.log.String(), "MCP server says") })
	wantIn(t, w.log.String(), "[redacted]")
	if strings.Contains(w.log.String(), "hunter2") {
		t.Error("a secret in the log")
	}
}

func TestNeedsApproval(t *testing.T) {
	w := newWorld(t, Options{Servers: map[string]Server{
		"a": {Command: "plain"}, "b": {Command: "plain", NeedsApproval: func(name string) bool { return name == "b/echo" }},
	}})
	for name, want := range map[string]bool{"a/echo": true, "b/echo": true, "b/hang": false, "c/echo": true, "": true} {
		if w.NeedsApproval(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
