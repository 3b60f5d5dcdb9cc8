//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// spawnRPC starts `serve --stdio` for a user whose whole home is o.Dir. The configuration, unless it is empty,
// lies where an editor's engine looks for it; the folder that it works in is another one.
func spawnRPC(t *testing.T, config string, o host.Options) *host.Engine {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	home := o.Dir
	for _, folder := range []string{"work", "config/sluice", "data"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if config != "" {
		write(t, filepath.Join(home, "config", "sluice", "config.yaml"), config)
	}
	o.Path, o.Dir = built(t), filepath.Join(home, "work")
	if o.Args == nil {
		o.Args = []string{"serve", "--stdio"}
	}
	o.Env = append([]string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"), "DEX_CLI_HOME=" + filepath.Join(home, "dex"),
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus", "XDG_RUNTIME_DIR=/nonexistent", "SLUICE_LOG_LEVEL=debug", "NO_PROXY=127.0.0.1",
	}, o.Env...)
	e := host.Start(t, o)
	e.RPCResult("initialize", "initialize", map[string]any{"protocolVersion": 1, "client": map[string]any{"name": "test", "version": "0"}})
	return e
}

// startChat starts a chat and returns its stream.
func startChat(e *host.Engine, id string, params map[string]any) string {
	return e.RPCResult(id, "chat/start", params).Get("streamId").String()
}

// wantComplete waits for the good end of a stream and compares its text.
func wantComplete(t *testing.T, e *host.Engine, stream, want string) {
	t.Helper()
	if end := e.Ended(stream); end.Get("method").Str != "chat/complete" {
		t.Errorf("the stream ended with %s", end.Raw)
	}
	if got := e.StreamText(stream); got != want {
		t.Errorf("the text has %d bytes, want %d: %.80q", len(got), len(want), got)
	}
}

// wantEndOfInput ends an engine's input and waits for its own end.
func wantEndOfInput(t *testing.T, e *host.Engine) {
	t.Helper()
	e.CloseStdin()
	wantExit(t, e, 0)
}

// TestRPCLocal: a host of JSON-RPC with a llama-server and no gateway at all.
func TestRPCLocal(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{})
	config := "llama_server: {url: '" + server.URL + "'}\nagents: [{name: helper}, {name: Other}]\n"
	home := t.TempDir()
	e := spawnRPC(t, config, host.Options{Dir: home, Sockets: true})
	if got := e.RPCResult("status", "auth/status", nil).Raw; got != `{"profile":"local","serverUrl":"local:","authenticated":true}` {
		t.Errorf("auth/status: %s", got)
	}
	e.RPCError("login", "auth/login", map[string]any{"email": "a@b", "password": "x"}, -32000, "usage_error")
	if got := e.RPCResult("profiles", "profile/list", nil).Raw; got != "[]" {
		t.Errorf("the profiles are %s before local was chosen", got)
	}
	if got := e.RPCResult("agents", "agents/list", nil).Get("items.#.workflowId").Raw; got != `["helper","Other"]` {
		t.Errorf("the agents are %s", got)
	}
	stream := startChat(e, "chat", map[string]any{"workflowId": "other", "interactionId": "c1", "input": "n=300"})
	wantComplete(t, e, stream, fakellama.Text("n=300"))
	events := e.StreamEvents(stream)
	if last := events[len(events)-1].Raw; last != `{"kind":"end"}` {
		t.Errorf("the last event is %s", last)
	}
	failed := startChat(e, "bad", map[string]any{"workflowId": "helper", "interactionId": "c2", "input": "n=50 die=30"})
	if end := e.Ended(failed); end.Get("method").Str != "chat/error" || end.Get("params.error.code").Str != "internal_error" || e.StreamText(failed) != fakellama.Text("n=30") {
		t.Errorf("the lost one ended with %s", end.Raw)
	}
	wantEndOfInput(t, e)

	again := spawnRPC(t, config, host.Options{Dir: home})
	list := again.RPCResult("list", "history/conversations", nil)
	if got := list.Get("#.interactionId").Raw + list.Get("#.workflowId").Raw + list.Get("#.interactionCount").Raw; got != `["c2","c1"]["helper","Other"][1,1]` {
		t.Errorf("the conversations are %s", list.Raw)
	}
	turns := again.RPCResult("turns", "history/turns", map[string]any{"workflowId": "Other", "interactionId": "c1"})
	if turns.Get("0.input").Str != "n=300" || turns.Get("0.output").Str != fakellama.Text("n=300") || turns.Get("#").Int() != 1 {
		t.Errorf("the turns are %.300s", turns.Raw)
	}
	if got := again.RPCResult("use", "profile/use", map[string]any{"name": "local"}).Raw; got != `{"name":"local","serverUrl":"local:","current":true}` {
		t.Errorf("profile/use: %s", got)
	}
	wantEndOfInput(t, again)
}

// TestRPCCancelsTheServersRequest: what a host ends, the model server ends, too.
func TestRPCCancelsTheServersRequest(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{})
	e := spawnRPC(t, "llama_server: {url: '"+server.URL+"'}\n", host.Options{})
	for _, method := range []string{"chat/cancel", "chat/stop"} {
		stream := startChat(e, method+" start", map[string]any{"workflowId": "assistant", "input": "n=100000 rest=2ms"})
		e.Wait("text", func(m host.Message) bool {
			return m.Get("params.streamId").Str == stream && m.Get("params.event.kind").Str == "text"
		})
		if got := e.RPCResult(method, method, map[string]any{"streamId": stream}); !got.Get("cancelled").Bool() {
			t.Errorf("%s: %s", method, got.Raw)
		}
		if end := e.Ended(stream); end.Get("params.error.code").Str != "cancelled" {
			t.Errorf("the end is %s", end.Raw)
		}
		server.WaitIdle()
	}
	if got := e.RPCResult("health", "health", nil).Raw; got != `{"ok":true,"activeChats":0}` {
		t.Errorf("health: %s", got)
	}
	wantEndOfInput(t, e)
}

// TestRPCSlowReader: nothing stalls, and the text is whole in fewer lines.
func TestRPCSlowReader(t *testing.T) {
	t.Parallel()
	const n = 20000
	server := fakellama.Start(t, fakellama.Options{})
	e := spawnRPC(t, "llama_server: {url: '"+server.URL+"'}\n", host.Options{Small: true})
	e.Pause()
	e.SendRPC("chat", "chat/start", map[string]any{"workflowId": "assistant", "input": "n=20000"})
	server.WaitAnswers(1)
	e.Resume()
	answer := e.Wait("the answer", func(m host.Message) bool { return m.Get("id").Str == "chat" })
	stream := answer.Get("result.streamId").Str
	wantComplete(t, e, stream, fakellama.Text("n=20000"))
	if events := len(e.StreamEvents(stream)); events > n/2 {
		t.Errorf("it took %d events", events)
	}
	wantEndOfInput(t, e)
}

// TestRPCConfiguration: an editor's engine reads nothing of the folder that it works in.
func TestRPCConfiguration(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "work", "config.yaml"), "llama_server: {url: 'http://127.0.0.1:1'}\n")
	e := spawnRPC(t, "", host.Options{Dir: home})
	e.RPCError("none", "chat/start", map[string]any{"workflowId": "assistant", "input": "x"}, -32000, "config_invalid")
	said := e.RPCError("local", "chat/start", map[string]any{"profile": "local", "workflowId": "assistant", "input": "x"}, -32000, "config_missing")
	if path := filepath.Join(home, "config", "sluice", "config.yaml"); !strings.Contains(said.Get("message").Str, path) {
		t.Errorf("the message doesn't name %s: %s", path, said.Raw)
	}
	e.SendRPC("", "exit", nil)
	wantExit(t, e, 0)

	named := spawnRPC(t, "", host.Options{Dir: home, Args: []string{"serve", "--stdio", "--config", "config.yaml"}})
	if got := named.RPCResult("agents", "agents/list", nil).Get("items.#").Int(); got != 1 {
		t.Errorf("with --config there are %d agents", got)
	}
	if got := named.RPC("end", "shutdown", nil).Raw; got != `{"jsonrpc":"2.0","id":"end","result":null}` {
		t.Errorf("shutdown: %s", got)
	}
	wantExit(t, named, 0)

	demo := spawnRPC(t, "", host.Options{Dir: home, Args: []string{"serve", "--stdio", "--demo"}})
	stream := startChat(demo, "chat", map[string]any{"workflowId": "assistant", "input": "What is a pipe?"})
	if end := demo.Ended(stream); end.Get("method").Str != "chat/complete" || len(demo.StreamText(stream)) < 3 {
		t.Errorf("the demo says %q and ends with %s", demo.StreamText(stream), end.Raw)
	}
	wantEndOfInput(t, demo)
}

// TestRPCDrops: with on_full: drop a stream still has its answer first and its end last, which tells the drops.
func TestRPCDrops(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{})
	e := spawnRPC(t, "llama_server: {url: '"+server.URL+"'}\noutput: {on_full: drop, queue_frames: 20}\n", host.Options{Small: true})
	e.Pause()
	e.SendRPC("chat", "chat/start", map[string]any{"workflowId": "assistant", "input": "n=20000"})
	server.WaitAnswers(1)
	e.Resume()
	stream := e.Wait("the answer", func(m host.Message) bool { return m.Get("id").Str == "chat" }).Get("result.streamId").Str
	end := e.Ended(stream)
	dropped := end.Get("params.dropped").Int()
	if events := len(e.StreamEvents(stream)); end.Get("method").Str != "chat/complete" || dropped == 0 || events+int(dropped) < 20000 {
		t.Errorf("%d events came, and the end is %s", events, end.Raw)
	}
	wantEndOfInput(t, e)
}
