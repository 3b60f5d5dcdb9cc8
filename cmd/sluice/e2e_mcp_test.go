//go:build unix

package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/stages/execute/tools"
)

// installed is a server started by npx from what is installed, never from elsewhere.
func installed(folder string, args ...string) config.MCPServer {
	return config.MCPServer{
		Command: "npx", Args: append([]string{"--prefix", folder, "--no-install"}, args...), Timeout: time.Minute,
		RequiresApproval: config.Approval{All: true},
	}
}

// realTools are the tools of configured servers, started as the engine starts them.
type realTools struct {
	*tools.Manager
	t    *testing.T
	log  *lockedText
	list []wire.Tool
}

// newRealTools returns tools whose servers are all ready.
func newRealTools(t *testing.T, servers map[string]config.MCPServer) *realTools {
	t.Helper()
	r := newToolsOf(t, servers)
	testkit.Until(t, "all servers are ready", func() bool {
		var warnings []string
		r.list, warnings = r.List(t.Context(), []string{"*"}, nil)
		if text := strings.Join(warnings, "\n"); strings.Contains(text, "is not there") {
			t.Fatal(text)
		}
		return len(warnings) == 0
	})
	return r
}

func newToolsOf(t *testing.T, servers map[string]config.MCPServer) *realTools {
	t.Helper()
	guardian, err := program()
	if err != nil {
		t.Fatal(err)
	}
	r := &realTools{t: t, log: &lockedText{}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	launcher := process.NewLauncher(process.LauncherOptions{Executable: guardian, Logger: log})
	r.Manager = newTools(&config.Config{MCPServers: servers}, launcher, log)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		launcher.Close()
	})
	return r
}

func (r *realTools) names() (names []string) {
	for _, tool := range r.list {
		names = append(names, tool.Name)
	}
	return names
}

// want calls a tool and wants parts in the result.
func (r *realTools) want(status wire.ToolStatus, name, args string, parts ...string) wire.ToolResult {
	r.t.Helper()
	result := r.Call(r.t.Context(), name, args)
	if result.Status != status {
		r.t.Errorf("%s: %s, want %s: %.500s", name, result.Status, status, result.Text)
	}
	for _, part := range parts {
		if !strings.Contains(result.Text, part) {
			r.t.Errorf("%s: %q is not in %.1000q", name, part, result.Text)
		}
	}
	return result
}

// lockedText is a log for several goroutines.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// everythingTools are the tools of server-everything 2026.8.31 for a client that offers nothing.
const everythingTools = "echo get-annotated-message get-env get-resource-links get-resource-reference get-structured-content " +
	"get-sum get-tiny-image gzip-file-as-resource simulate-research-query toggle-simulated-logging toggle-subscriber-updates " +
	"trigger-long-running-operation"

func TestMCPEverything(t *testing.T) {
	t.Parallel()
	server := installed(mcpServers(t), "mcp-server-everything", "stdio")
	server.Env = map[string]string{"API_TOKEN": "hunter2hunter2", "GREETING": "hello"}
	tryEverything(t, server)
}

func TestMCPEverythingOverHTTP(t *testing.T) {
	t.Parallel()
	url := startEverything(t, mcpServers(t))
	tryEverything(t, config.MCPServer{URL: url, Timeout: time.Minute, Headers: map[string]string{"Authorization": "Bearer hunter2hunter2"}})
}

// tryEverything calls the tools that stand for what servers do.
func tryEverything(t *testing.T, server config.MCPServer) {
	r := newRealTools(t, map[string]config.MCPServer{"all": server})
	var names []string
	for _, name := range strings.Fields(everythingTools) {
		names = append(names, "all/"+name)
	}
	if got := strings.Join(r.names(), " "); got != strings.Join(names, " ") {
		t.Errorf("the tools are %s", got)
	}
	for i, tool := range r.list {
		if tool.Function != strings.Replace(names[i], "/", "__", 1) || !strings.HasPrefix(tool.Schema, `{`) || tool.Description == "" {
			t.Errorf("got %+v", tool)
		}
	}
	r.want(wire.ToolOK, "all/echo", `{"message":"Zoë \u2028 🎈"}`, "Echo: Zoë \u2028 🎈")
	r.want(wire.ToolOK, "all/get-sum", `{"a":2,"b":40}`, "42")
	r.want(wire.ToolError, "all/get-sum", `{"a":"two","b":40}`, "was not called", "/properties/a")
	r.want(wire.ToolError, "all/get-sum", `{"a":2}`, "was not called", `missing properties: ["b"]`)
	r.want(wire.ToolOK, "all/get-tiny-image", `{}`, "[image, image/png, ")
	r.want(wire.ToolOK, "all/get-structured-content", `{"location":"Chicago"}`, `"conditions":"Light rain / drizzle"`)
	r.want(wire.ToolOK, "all/get-annotated-message", `{"messageType":"error","includeImage":true}`, "Error:", "[image, ")
	r.want(wire.ToolOK, "all/get-resource-links", `{"count":2}`, "[resource, ", "demo://resource/dynamic/")
	r.want(wire.ToolOK, "all/get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "Returning resource reference", "This is a plaintext resource")
	r.want(wire.ToolOK, "all/trigger-long-running-operation", `{"duration":0.1,"steps":2}`, "Long running operation completed")
	cancelLong(r)
	env := r.want(wire.ToolOK, "all/get-env", `{}`, "PATH").Text
	if spawned := server.URL == ""; spawned && (strings.Contains(env, `"MCP_SERVERS"`) || !strings.Contains(env, `"GREETING": "hello"`)) {
		t.Errorf("the server's environment is %s", env)
	}
	if text := r.log.String(); strings.Contains(text, "hunter2") {
		t.Error("a secret in the log")
	}
	if !r.NeedsApproval("all/echo") && server.RequiresApproval.All {
		t.Error("no approval needed")
	}
}

// cancelLong cancels an operation of a minute, which this server doesn't heed, and goes on.
func cancelLong(r *realTools) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	result := r.Call(ctx, "all/trigger-long-running-operation", `{"duration":60,"steps":60}`)
	if result.Status != wire.ToolCancelled || result.Took > 30*time.Second {
		r.t.Errorf("got %+v", result)
	}
	r.want(wire.ToolOK, "all/echo", `{"message":"still there"}`, "still there")
}

// startEverything starts the server on a free port and returns its URL. It takes the port from PORT.
func startEverything(t *testing.T, folder string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	_ = listener.Close()
	path, err := exec.LookPath("npx")
	if err != nil {
		t.Fatal(err)
	}
	guardian, err := program()
	if err != nil {
		t.Fatal(err)
	}
	launcher := process.NewLauncher(process.LauncherOptions{Executable: guardian})
	t.Cleanup(launcher.Close)
	_, err = launcher.Start(process.Command{
		Path: path, Args: []string{"--prefix", folder, "--no-install", "mcp-server-everything", "streamableHttp"},
		Env: append(os.Environ(), "PORT="+port),
	})
	if err != nil {
		t.Fatal(err)
	}
	url := "http://127.0.0.1:" + port + "/mcp"
	testkit.Until(t, "the server listens", func() bool {
		response, err := http.Post(url, "text/plain", strings.NewReader("")) // refused, but answered
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return url
}

func TestMCPFilesystem(t *testing.T) {
	t.Parallel()
	folder := mcpServers(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.txt"), "hello\nworld\n")
	server := installed(folder, "mcp-server-filesystem", ".")
	server.Cwd = dir
	r := newRealTools(t, map[string]config.MCPServer{"fs": server})
	for _, name := range []string{"fs/read_text_file", "fs/write_file", "fs/list_directory"} {
		if !strings.Contains(strings.Join(r.names(), " "), name) {
			t.Errorf("%s is missing: %v", name, r.names())
		}
	}
	file := strconv.Quote(filepath.Join(dir, "a.txt"))
	r.want(wire.ToolOK, "fs/read_text_file", `{"path":`+file+`}`, "hello\nworld\n")
	r.want(wire.ToolOK, "fs/list_directory", `{"path":`+strconv.Quote(dir)+`}`, "[FILE] a.txt")
	r.want(wire.ToolOK, "fs/write_file", `{"path":`+file+`,"content":"new"}`)
	if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "new" {
		t.Errorf("the file holds %q", text)
	}
	r.want(wire.ToolError, "fs/read_text_file", `{"path":"/etc/passwd"}`, "Access denied")
	r.want(wire.ToolError, "fs/read_text_file", `{"file":"a.txt"}`, "was not called")
}
