package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestListManyPages(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: many", "y: same page", "z: no tools")})
	names := w.names()
	if len(names) != 10_003 || names[9_999] != "x/tool09999" {
		t.Errorf("%d tools", len(names))
	}
	wantIn(t, w.log.String(), "repeats the pages")
}

// A list is read, and kept, only so far; who asks is told, each time.
func TestListTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		tools int
		want  string
	}{
		"wide": {2, "it tells more of them than 1 MiB"},
		"long": {testMessage / keptShare / 10_030, "longer than 256 KiB together"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{MaxMessage: testMessage, Servers: scripted("x: " + name)})
			for range 2 {
				tools, warnings := w.List(t.Context(), []string{"*", "x/tool999"}, nil)
				if len(tools) != c.tools || len(warnings) != 1 {
					t.Errorf("%d tools, warnings %q", len(tools), warnings)
				}
				wantIn(t, strings.Join(warnings, ""), `MCP server "x" has too many`, fmt.Sprintf("the first %d are", c.tools), c.want)
				for _, tool := range tools {
					if len(tool.Description) > maxDescription+len("…") {
						t.Errorf("%s is described in %d bytes", tool.Name, len(tool.Description))
					}
				}
			}
			wantIn(t, w.log.String(), "the others are left out")
		})
	}
}

func TestWeigh(t *testing.T) {
	for name, c := range map[string]struct {
		tool *mcp.Tool
		want int
	}{
		"null":  {nil, toolWeight},
		"empty": {&mcp.Tool{}, toolWeight + 3*valueWeight},
		"texts": {&mcp.Tool{Name: "abc", Title: "de", Description: "f"}, toolWeight + 3*valueWeight + 6},
		"schemas": {&mcp.Tool{
			InputSchema: map[string]any{"ab": []any{"c", 5.0, nil}}, OutputSchema: "def", Meta: mcp.Meta{"g": true},
		}, toolWeight + 3*valueWeight + 2 + valueWeight + 3*valueWeight + 1 + 3 + 1 + valueWeight},
	} {
		if got := weigh(c.tool); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
