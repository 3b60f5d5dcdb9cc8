package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// sdkServer is an MCP server made with the SDK.
func sdkServer(t *testing.T, o *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, o)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(anyObject)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "hang", InputSchema: json.RawMessage(anyObject)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	return s
}

// serve runs an HTTP server for the time of the test.
func serve(t *testing.T, handler http.Handler) *httptest.Server {
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server
}

// streamable is the handler of an SDK server; changeable, so that it can be started anew.
func streamable(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// remoteWorld has one remote server, x.
func remoteWorld(t *testing.T, url string) *world {
	return newWorld(t, Options{Patience: time.Minute, MaxMessage: testMessage, Servers: map[string]Server{"x": {
		URL: url, Headers: map[string]string{"Authorization": "Bearer hunter2hunter2"}, Timeout: time.Minute,
		Clean: strings.NewReplacer("hunter2hunter2", "[redacted]").Replace,
	}}})
}

func TestRemote(t *testing.T) {
	sdk := sdkServer(t, nil)
	handler := streamable(sdk)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	w := remoteWorld(t, server.URL)
	if names := w.names(); strings.Join(names, " ") != "x/echo x/hang" {
		t.Fatal(names)
	}
	if text := w.want(wire.ToolOK, "x/echo", `{"a":1}`); text != `{"a":1}` {
		t.Errorf("got %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if result := w.Call(ctx, "x/hang", "{}"); result.Status != wire.ToolCancelled {
		t.Errorf("got %+v", result)
	}
	w.want(wire.ToolOK, "x/echo", `{}`)
	sdk.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(anyObject)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("too late")
	})
	testkit.Until(t, "the new tool is listed", func() bool { return len(w.list()) == 3 })
	wantIn(t, w.want(wire.ToolError, "x/late", "{}"), "too late")
}

// A server that was started anew doesn't know the session: it is connected to again, and the call,
// which it refused, is made again.
func TestRemoteForgetsSession(t *testing.T) {
	var handler atomic.Pointer[http.Handler]
	first := streamable(sdkServer(t, nil))
	handler.Store(&first)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	w := remoteWorld(t, server.URL)
	w.want(wire.ToolOK, "x/echo", "{}")
	second := streamable(sdkServer(t, nil))
	handler.Store(&second)
	w.want(wire.ToolOK, "x/echo", "{}")
}

// A server of the newest protocol alone refuses initialize.
func TestNewestProtocol(t *testing.T) {
	server := serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return sdkServer(t, &mcp.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}})
	}, &mcp.StreamableHTTPOptions{Stateless: true}))
	remoteWorld(t, server.URL).want(wire.ToolOK, "x/echo", "{}")
	newWorld(t, Options{Servers: scripted("x: newest")}).want(wire.ToolOK, "x/echo", `{"text":""}`)
}

func TestRemoteFaults(t *testing.T) {
	elsewhere := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed: %s %s", r.Method, r.Header.Get("Authorization"))
	}))
	status := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    []string
	}{
		"unauthorized": {status(401, "text/plain", ""), []string{"HTTP 401 Unauthorized", "headers"}},
		"not found":    {status(404, "text/html", "<html>"), []string{"HTTP 404 Not Found", "url"}},
		"old SSE":      {status(405, "", ""), []string{"HTTP 405", "older SSE transport"}},
		"a page":       {status(200, "text/html; charset=utf-8", "<html>"), []string{"text/html", "url"}},
		"a text":       {status(200, "text/plain", "hello"), []string{"unsupported content type"}},
		"broken":       {status(500, "text/plain", "oops"), []string{"HTTP 500"}},
		"an error":     {status(400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not you, hunter2hunter2"}}`), []string{"not you, [redacted]"}},
		"not JSON":     {status(200, "application/json", "hello"), []string{"no valid result of initialize"}},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/there?key=x", http.StatusTemporaryRedirect)
		}, []string{"redirects to " + elsewhere.URL + "/there;"}},
		"as GET": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) }, []string{"redirects to http"}},
		"in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}, []string{"redirects to http"}},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for piece := strings.Repeat("x", testMessage/8); ; {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		}, []string{"more than 1 MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := remoteWorld(t, serve(t, c.handler).URL+"/?key=hunter2hunter2")
			_, warnings := w.List(t.Context(), []string{"*"}, nil)
			wantIn(t, strings.Join(warnings, ""), append(c.want, `MCP server "x"`)...)
			if strings.Contains(strings.Join(warnings, "")+w.log.String(), "hunter2") {
				t.Errorf("a secret in %q", warnings)
			}
		})
	}
}

func TestRemoteIsNotThere(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w := remoteWorld(t, gone.URL)
	_, warnings := w.List(t.Context(), []string{"*"}, nil)
	wantIn(t, strings.Join(warnings, ""), "connection refused")
}

// While a server is away, calls fail; the session goes on when it is back.
func TestRemoteGoesAway(t *testing.T) {
	var away atomic.Bool
	handler := streamable(sdkServer(t, nil))
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	w := remoteWorld(t, server.URL)
	w.want(wire.ToolOK, "x/echo", "{}")
	away.Store(true)
	if result := w.Call(t.Context(), "x/echo", "{}"); result.Status != wire.ToolError || !result.Retryable {
		t.Errorf("got %+v", result)
	} else {
		wantIn(t, result.Text, "HTTP 502")
	}
	away.Store(false)
	w.want(wire.ToolOK, "x/echo", "{}")
}

// A server that answers nothing, or not the request for its stream, keeps nobody.
func TestRemoteHangs(t *testing.T) {
	handler := streamable(sdkServer(t, nil))
	hang := func(method string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == method || method == "" {
				_, _ = io.Copy(io.Discard, r.Body) // else the server doesn't see that the client is gone
				<-r.Context().Done()
				return
			}
			handler.ServeHTTP(w, r)
		})
	}
	mute, silent, stays := serve(t, hang("")), serve(t, hang(http.MethodGet)), serve(t, hang(http.MethodDelete))
	w := newWorld(t, Options{Patience: 50 * time.Millisecond, Servers: map[string]Server{
		"mute": {URL: mute.URL, Timeout: 200 * time.Millisecond}, "silent": {URL: silent.URL}, "stays": {URL: stays.URL},
	}})
	w.want(wire.ToolOK, "silent/echo", "{}")
	w.want(wire.ToolOK, "stays/echo", "{}")
	testkit.Until(t, "the time of the mute one is over", func() bool {
		_, warnings := w.List(t.Context(), []string{"mute/*"}, nil)
		return strings.Contains(strings.Join(warnings, ""), "did not answer initialize within 200ms")
	})
}
