//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/testkit"
)

// toolServer is an MCP server in a process of its own, this test's program run once more. It notes
// each call in a file before it makes it.
type toolServer struct {
	t   *testing.T
	dir string
}

// These variables make a process a tool server: the folder of its notes, and its habits.
const (
	toolFolder = "E2E_TOOL_FOLDER"
	toolHabits = "E2E_TOOL_HABITS"
)

// The habits of a tool server.
const (
	habitStubborn = "stubborn" // neither SIGTERM nor the end of its input ends it
	habitNoisy    = "noisy"    // it floods stderr
	habitTelling  = "telling"  // it tells its secret in what it prints
)

// noise is what a noisy server prints at its start, in lines of a kilobyte.
const noise = 16 << 20

func init() {
	if folder := os.Getenv(toolFolder); folder != "" {
		runToolServer(folder, os.Getenv(toolHabits))
		os.Exit(0)
	}
}

func newToolServer(t *testing.T) *toolServer {
	t.Helper()
	return &toolServer{t, t.TempDir()}
}

// config is the server's entry under mcp_servers; more are entries of it, or of its environment in env.
func (s *toolServer) config(name, habits, more string) string {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("  %s: {command: %q, env: {%s: %q, %s: %q, E2E_TOKEN: %q}, %s}\n",
		name, self, toolFolder, s.dir, toolHabits, habits, toolSecret, cmp.Or(more, "requires_approval: false"))
}

// toolSecret is what no line of the engine may hold.
const toolSecret = "hush-5f1d0c7e"

func (s *toolServer) path(name string) string { return filepath.Join(s.dir, name) }

// calls are the calls so far, each as "tool text", in order.
func (s *toolServer) calls() []string {
	text, _ := os.ReadFile(s.path("calls"))
	return slices.Collect(lines(string(text)))
}

// release lets the calls of hold return.
func (s *toolServer) release() { write(s.t, s.path("released"), "") }

// wantCalls waits for calls and holds them to what is wanted, in any order: those of a step are made
// side by side.
func (s *toolServer) wantCalls(want ...string) {
	s.t.Helper()
	testkit.Until(s.t, "the calls are made", func() bool { return len(s.calls()) >= len(want) })
	if got := slices.Sorted(slices.Values(s.calls())); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		s.t.Errorf("the calls were %q, want %q", got, want)
	}
}

// wantGone waits until no process of the server is left.
func (s *toolServer) wantGone() {
	s.t.Helper()
	text, err := os.ReadFile(s.path("pids"))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range lines(string(text)) {
		pid, _ := strconv.Atoi(line)
		testkit.Until(s.t, "the tool server is gone", func() bool { return !runs(pid) })
	}
}

func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if !yield(strings.TrimRight(line, "\n")) {
				return
			}
		}
	}
}

// textArgs are the arguments of most tools, countArgs those of one that wants a number.
type (
	textArgs struct {
		Text string `json:"text"`
	}
	countArgs struct {
		Count int `json:"count"`
	}
)

// runToolServer serves stdin and stdout.
func runToolServer(folder, habits string) {
	s := noting{folder}
	_ = s.note("pids", os.Getpid())
	if strings.Contains(habits, habitStubborn) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if strings.Contains(habits, habitNoisy) {
		line := strings.Repeat("noise ", 170) + "\n"
		for n := 0; n < noise; n += len(line) {
			fmt.Fprint(os.Stderr, line)
		}
	}
	if strings.Contains(habits, habitTelling) {
		fmt.Fprintln(os.Stderr, "my token is", os.Getenv("E2E_TOKEN"))
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "note"}, func(_ context.Context, _ *mcp.CallToolRequest, in textArgs) (*mcp.CallToolResult, any, error) {
		return s.answer("note "+in.Text, "noted "+in.Text)
	})
	mcp.AddTool(server, &mcp.Tool{Name: "hold"}, func(_ context.Context, _ *mcp.CallToolRequest, in textArgs) (*mcp.CallToolResult, any, error) {
		r, _, err := s.answer("hold "+in.Text, "held "+in.Text)
		for _, gone := os.Stat(filepath.Join(folder, "released")); gone != nil; _, gone = os.Stat(filepath.Join(folder, "released")) {
			time.Sleep(5 * time.Millisecond) // another process writes the file
		}
		return r, nil, err
	})
	mcp.AddTool(server, &mcp.Tool{Name: "big"}, func(_ context.Context, _ *mcp.CallToolRequest, in countArgs) (*mcp.CallToolResult, any, error) {
		return s.answer("big", strings.Repeat("0123456789abcdef", in.Count/16))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "tell"}, func(_ context.Context, _ *mcp.CallToolRequest, in textArgs) (*mcp.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "told", in.Text, os.Getenv("E2E_TOKEN"))
		return nil, nil, fmt.Errorf("the token %s is refused", os.Getenv("E2E_TOKEN"))
	})
	_ = server.Run(context.Background(), &mcp.StdioTransport{})
	if strings.Contains(habits, habitStubborn) {
		select {}
	}
}

// noting writes the calls of a tool server down.
type noting struct{ folder string }

func (n noting) answer(call, text string) (*mcp.CallToolResult, any, error) {
	if err := n.note("calls", call); err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// note adds a line to a file.
func (n noting) note(name string, line any) error {
	file, err := os.OpenFile(filepath.Join(n.folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintln(file, line)
	return err
}
