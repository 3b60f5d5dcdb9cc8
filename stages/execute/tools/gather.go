package tools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/wire"
)

const (
	// maxTools is how many tools one server may have.
	maxTools = 50_000
	// maxDescription is how much of a description is kept in bytes.
	maxDescription = 16 << 10
	// keptShare is which part of the bytes that may be read of a list may be kept of it.
	keptShare = 4
)

// gathering makes a catalog while a server tells its tools, page by page: of each page only what the
// catalog has stays in memory. What can't be used is left out or replaced, and logged.
type gathering struct {
	server string
	log    *slog.Logger
	limit  int // bytes of tools that are read
	read   int // bytes that were
	kept   int // bytes of those in made
	pages  int
	made   *catalog
}

func newGathering(server string, limit int, log *slog.Logger) *gathering {
	return &gathering{server: server, log: log, limit: limit, made: &catalog{byName: map[string]*entry{}}}
}

// ask gets the list, or as much of it as there is room for. A server that says it has no tools isn't
// asked.
func (g *gathering) ask(ctx context.Context, session *mcp.ClientSession) error {
	if has := session.InitializeResult().Capabilities; has == nil || has.Tools == nil {
		return nil
	}
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return err
		}
		more := g.take(page.Tools)
		cursor = page.NextCursor
		switch {
		case !more || cursor == "":
			return nil
		case seen[cursor]:
			g.log.Warn("MCP server repeats the pages of its tools; those told so far are used", "tools", len(g.made.tools))
			return nil
		case g.pages >= maxTools:
			g.stop(fmt.Sprintf("it tells them on more than %d pages", maxTools))
			return nil
		}
		seen[cursor] = true
	}
}

// take adds a page, and reports whether there is room for another.
func (g *gathering) take(page []*mcp.Tool) bool {
	g.pages++
	for _, tool := range page {
		if len(g.made.tools) == maxTools {
			return g.stop(fmt.Sprintf("it has more than %d", maxTools))
		}
		if g.read += weigh(tool); g.read > g.limit {
			return g.stop("it tells more of them than " + size(g.limit))
		}
		if tool == nil {
			continue
		}
		if !g.add(tool) {
			return g.stop("their names, descriptions and schemas are longer than " + size(g.limit/keptShare) + " together")
		}
	}
	return true
}

// stop says why the other tools are missing. It returns false: no more is taken.
func (g *gathering) stop(why string) bool {
	g.made.warning = fmt.Sprintf("MCP server %q has too many or too large tools; those after the first %d are left out: %s. Let it offer fewer tools, or shorter descriptions",
		g.server, len(g.made.tools), why)
	g.log.Warn("MCP server has too many or too large tools; the others are left out", "tools", len(g.made.tools), "reason", why)
	return false
}

// add adds a tool; it reports false when there is no room for it.
func (g *gathering) add(tool *mcp.Tool) bool {
	name := g.server + "/" + tool.Name
	if !usableName(tool.Name) {
		g.log.Warn("a tool is left out: its name is empty, too long or unprintable", "name", excerpt(tool.Name))
		return true
	}
	if g.made.byName[name] != nil {
		g.log.Warn("a tool is left out: the server has another of this name", "tool", name)
		return true
	}
	text, fault := schemaText(tool.InputSchema)
	if fault != nil {
		g.log.Warn("a tool's schema is replaced by one that allows everything", "tool", name, "reason", fault.Error())
	}
	description := cut(strings.ToValidUTF8(tool.Description, "\uFFFD"), maxDescription)
	if g.kept += len(name) + len(description) + len(text); g.kept > g.limit/keptShare {
		return false
	}
	g.made.byName[name] = &entry{own: name[len(g.server)+1:], schema: &schema{text: text}}
	g.made.tools = append(g.made.tools, wire.Tool{
		Name: name, Function: functionName(g.server, tool.Name, ""), Description: description, Schema: text,
	})
	return true
}

// done returns the catalog.
func (g *gathering) done() *catalog {
	slices.SortFunc(g.made.tools, func(a, b wire.Tool) int { return strings.Compare(a.Name, b.Name) })
	return g.made
}

// toolWeight and valueWeight stand for what a tool, and a value within one, takes beside its texts.
const (
	toolWeight  = 64
	valueWeight = 8
)

// weigh returns about how many bytes a tool was told in. Null may stand for one.
func weigh(tool *mcp.Tool) int {
	if tool == nil {
		return toolWeight
	}
	return toolWeight + len(tool.Name) + len(tool.Title) + len(tool.Description) +
		weighValue(tool.InputSchema) + weighValue(tool.OutputSchema) + weighValue(map[string]any(tool.Meta))
}

func weighValue(value any) int {
	sum := valueWeight
	switch value := value.(type) {
	case string:
		sum += len(value)
	case []any:
		for _, one := range value {
			sum += weighValue(one)
		}
	case map[string]any:
		for name, one := range value {
			sum += len(name) + weighValue(one)
		}
	}
	return sum
}
