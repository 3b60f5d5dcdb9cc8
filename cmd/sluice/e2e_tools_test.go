//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// mcpServers returns the folder with the real MCP servers.
func mcpServers(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("MCP_SERVERS")
	if folder == "" {
		t.Skip("MCP_SERVERS is not set: make test installs the MCP servers and sets it")
	}
	return folder
}

// npx is the configuration of an MCP server that npx starts.
func npx(t *testing.T, name, more string, args ...string) string {
	quoted := []string{`"--no-install"`}
	for _, arg := range args {
		quoted = append(quoted, strconv.Quote(arg))
	}
	return fmt.Sprintf("  %s: {command: npx, cwd: %q, args: [%s]%s}\n", name, mcpServers(t), strings.Join(quoted, ", "), more)
}

// toolAgent is an agent with the given tools.
func toolAgent(globs string) string { return "agents: [{name: assistant, tools: [" + globs + "]}]\n" }

// startWithTools starts an engine with a real llama-server and the given MCP servers.
func startWithTools(t *testing.T, agent, servers string, o host.Options) (*real, *host.Engine) {
	t.Helper()
	r := newReal(t)
	return r, r.start(quick, one+agent+"mcp_servers:\n"+servers, o)
}

func chatOf(input string, more map[string]any) map[string]any {
	params := map[string]any{"input": input}
	for name, value := range more {
		params[name] = value
	}
	return params
}

// awaitTools chats until no server is missing any more: the first chat doesn't wait long for a slow one.
func awaitTools(t *testing.T, e *host.Engine) {
	t.Helper()
	for i := 0; ; i++ {
		id := numbered("await", i)
		e.Chat(id, "hello")
		if len(e.Result(id).Get("warnings").Array()) == 0 {
			return
		}
	}
}

const toolTurn = "[run_start memory_start llm_start llm_done tool_start tool_done llm_start llm_chunk llm_done final]"

func TestRealToolCall(t *testing.T) {
	t.Parallel()
	_, e := startWithTools(t, toolAgent(`"everything/echo"`), npx(t, "everything", ", requires_approval: false", "mcp-server-everything"), host.Options{})
	awaitTools(t, e)
	e.Chat("c", "Please /call the tool")
	result := e.Result("c")
	if names := e.Names("c"); names != toolTurn {
		t.Errorf("the events are %s", names)
	}
	start, done := e.Event("c", "tool_start"), e.Event("c", "tool_done")
	if start.Get("tool").Str != "everything/echo" || start.Get("step").Int() != 0 || start.Get("args.message").Type != gjson.String {
		t.Errorf("it starts with %s", start.Raw)
	}
	if want := strings.Join(strings.Fields("Echo: "+start.Get("args.message").Str), " "); done.Get("status").Str != "ok" || done.Get("preview").Str != want {
		t.Errorf("it is done with %s", done.Raw)
	}
	if result.Get("steps").Int() != 2 || result.Get("finish_reason").Str != "stop" || result.Get("response").Str == "" || len(result.Get("warnings").Array()) != 0 {
		t.Errorf("the result is %s", result.Raw)
	}
	if result.Get("timings.tool_ms").Int() == 0 {
		t.Errorf("the connection to the server took no time: %s", result.Get("timings").Raw)
	}
}

func TestRealFilesystem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, e := startWithTools(t, toolAgent(`"fs/list_allowed_directories"`),
		npx(t, "fs", ", requires_approval: ['fs/write_*']", "mcp-server-filesystem", folder), host.Options{})
	awaitTools(t, e)
	e.Chat("c", "/call")
	e.Result("c")
	if done := e.Event("c", "tool_done"); done.Get("status").Str != "ok" || !strings.Contains(done.Get("preview").Str, filepath.Base(folder)) {
		t.Errorf("it is done with %s", done.Raw)
	}
}

func TestRealHTTPServer(t *testing.T) {
	t.Parallel()
	folder := mcpServers(t)
	port := freePort(t)
	server := exec.Command("npx", "--no-install", "mcp-server-everything", "streamableHttp")
	server.Dir, server.Env = folder, append(os.Environ(), "PORT="+port)
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // npx starts others
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
		_ = server.Wait()
	})
	testkit.Until(t, "the server listens", func() bool {
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
	_, e := startWithTools(t, toolAgent(`"web/echo"`), "  web: {url: 'http://127.0.0.1:"+port+"/mcp', requires_approval: false}\n", host.Options{})
	awaitTools(t, e)
	e.Chat("c", "/call")
	e.Result("c")
	if done := e.Event("c", "tool_done"); done.Get("status").Str != "ok" || !strings.HasPrefix(done.Get("preview").Str, "Echo:") {
		t.Errorf("it is done with %s", done.Raw)
	}
}

func TestRealApprovals(t *testing.T) {
	t.Parallel()
	_, e := startWithTools(t, toolAgent(`"everything/echo"`), npx(t, "everything", "", "mcp-server-everything"), host.Options{})
	wantStatus := func(id, want string) {
		t.Helper()
		e.Result(id)
		if done := e.Event(id, "tool_done"); done.Get("status").Str != want {
			t.Errorf("%s: it is done with %s", id, done.Raw)
		}
	}
	awaitTools(t, e)
	e.Chat("plain", "/call")
	wantStatus("plain", "denied")
	e.Send("approved", "chat", chatOf("/call", map[string]any{"approve_execution": true}))
	wantStatus("approved", "ok")
	e.Call("i", "initialize", map[string]any{"protocol_versions": []int{1}, "capabilities": map[string]any{"extensions": []string{"approval"}}})
	for id, decision := range map[string]string{"once": "once", "deny": "deny"} {
		e.Chat(id, "/call")
		asked := e.Event(id, "tool_approval")
		if asked.Get("tool").Str != "everything/echo" || !asked.Get("args").IsObject() || asked.Get("expires_ms").Int() != 120_000 {
			t.Errorf("asked %s", asked.Raw)
		}
		answer := map[string]any{"request_id": id, "call_id": asked.Get("call_id").Str, "decision": decision}
		if reply := e.Call("a-"+id, "approve", answer); !reply.Get("result.accepted").Bool() {
			t.Errorf("the answer got %s", reply.Raw)
		}
		wantStatus(id, map[string]string{"once": "ok", "deny": "denied"}[decision])
		if reply := e.Call("b-"+id, "approve", answer); reply.Get("result.accepted").Type != gjson.False {
			t.Errorf("a second answer got %s", reply.Raw)
		}
	}
	e.Chat("pending", "/call")
	e.Event("pending", "tool_approval")
	e.CloseStdin()
	wantStatus("pending", "denied")
	wantExit(t, e, 0)
}

// TestRealDeadServerDelaysNobody: a server that never answers is a warning, and its tools are missing; the
// one beside it is used as soon as it is there, which on a busy machine may be after the first chat.
func TestRealDeadServerDelaysNobody(t *testing.T) {
	t.Parallel()
	servers := "  dead: {command: sleep, args: ['1000'], requires_approval: false}\n" +
		"  absent: {command: no-such-command, requires_approval: false}\n" +
		npx(t, "everything", ", requires_approval: false", "mcp-server-everything")
	_, e := startWithTools(t, toolAgent(`"dead/*", "absent/*", "everything/echo"`), servers, host.Options{})
	called := false
	for i := 0; !called; i++ {
		id := numbered("c", i)
		e.Chat(id, "/call")
		warnings := e.Result(id).Get("warnings").Raw
		for _, word := range []string{"dead", "absent", "no-such-command"} {
			if !strings.Contains(warnings, word) {
				t.Errorf("the warnings don't name %s: %s", word, warnings)
			}
		}
		called = strings.Contains(e.Names(id), "tool_done")
		if called && e.Event(id, "tool_done").Get("status").Str != "ok" {
			t.Errorf("it is done with %s", e.Event(id, "tool_done").Raw)
		}
	}
	e.CloseStdin()
	wantExit(t, e, 0)
}

// TestRealToolServersEndWithTheEngine however it ends.
func TestRealToolServersEndWithTheEngine(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			write(t, r.path("stubborn"), "#!/bin/sh\ntrap '' TERM INT HUP\ncd "+mcpServers(t)+"\nnode node_modules/.bin/mcp-server-everything stdio "+r.dir+"\n")
			e := r.start(quick, one+toolAgent(`"s/trigger-long-running-operation"`)+"mcp_servers:\n  s: {command: "+r.path("stubborn")+", requires_approval: false}\n", host.Options{})
			e.Chat("c", "/call")
			e.Event("c", "tool_start")
			guardian := guardianOf(t, e.PID())
			c.end(t, e)
			wantExit(t, e, c.status)
			r.wantNothingLeft(guardian)
		})
	}
}
