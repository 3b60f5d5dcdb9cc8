package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/wire"
)

const (
	// maxTools is how many tools one server may have.
	maxTools = 50_000
	// maxName is how long a tool's own name may be in bytes.
	maxName = 256
	// maxDescription is how much of a description is kept in bytes.
	maxDescription = 16 << 10
)

// listTools gets the whole list of tools, page by page. A server that says it has no tools isn't asked.
func listTools(ctx context.Context, session *mcp.ClientSession, log *slog.Logger) ([]*mcp.Tool, error) {
	if has := session.InitializeResult().Capabilities; has == nil || has.Tools == nil {
		return nil, nil
	}
	var all []*mcp.Tool
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		cursor = page.NextCursor
		switch {
		case cursor == "":
			return all, nil
		case seen[cursor]:
			log.Warn("MCP server repeats the pages of its tools; those told so far are used", "tools", len(all))
			return all, nil
		case len(all) >= maxTools || len(seen) >= maxTools:
			log.Warn("MCP server has too many tools; the others are left out", "limit", maxTools)
			return all[:min(len(all), maxTools)], nil
		}
		seen[cursor] = true
	}
}

// catalog is a server's tools at one time. It doesn't change.
type catalog struct {
	tools  []wire.Tool // sorted by name
	byName map[string]*entry
}

// entry is one tool. The name is the server's own.
type entry struct {
	own    string
	schema *schema
}

// newCatalog makes a catalog of what a server listed. What can't be used is left out or replaced, and
// logged.
func newCatalog(server string, listed []*mcp.Tool, log *slog.Logger) *catalog {
	c := &catalog{byName: make(map[string]*entry, len(listed))}
	for _, tool := range listed {
		name := server + "/" + tool.Name
		if !usableName(tool.Name) {
			log.Warn("a tool is left out: its name is empty, too long or unprintable", "name", excerpt(tool.Name))
			continue
		}
		if c.byName[name] != nil {
			log.Warn("a tool is left out: the server has another of this name", "tool", name)
			continue
		}
		text, fault := schemaText(tool.InputSchema)
		if fault != nil {
			log.Warn("a tool's schema is replaced by one that allows everything", "tool", name, "reason", fault.Error())
		}
		c.byName[name] = &entry{own: tool.Name, schema: &schema{text: text}}
		c.tools = append(c.tools, wire.Tool{
			Name:        name,
			Function:    functionName(server, tool.Name, ""),
			Description: cut(strings.ToValidUTF8(tool.Description, "\uFFFD"), maxDescription),
			Schema:      text,
		})
	}
	slices.SortFunc(c.tools, func(a, b wire.Tool) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func usableName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

const (
	// maxSchema is the size of a schema in bytes beyond which it is replaced: it would fill the model's
	// context.
	maxSchema = 256 << 10
	// anyObject is offered for a schema that can't be used. The tool stays, because servers leave the
	// schema out where there are no arguments, and a server's own errors tell what it wants.
	anyObject = `{"type":"object"}`
)

// schemaText returns the schema as the model's server gets it, and why it isn't the tool's own.
func schemaText(given any) (string, error) {
	object, ok := given.(map[string]any)
	if !ok {
		return anyObject, errors.New("it is no JSON object")
	}
	if kind, given := object["type"]; !given {
		object["type"] = "object"
	} else if kind != "object" {
		return anyObject, errors.New("its type isn't object")
	}
	text := compact(object)
	if len(text) > maxSchema {
		return anyObject, errors.New("it is too large")
	}
	if _, err := decodeSchema(text); err != nil {
		return anyObject, errors.New("it is no JSON Schema")
	}
	return text, nil
}

// compact returns a value as JSON without escapes for HTML; empty when it can't be told in JSON.
func compact(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// maxExcerpt is how much of a server's text goes into a log line or a message, in bytes.
const maxExcerpt = 1 << 10

func excerpt(text string) string { return cut(strings.ToValidUTF8(text, "\uFFFD"), maxExcerpt) }

// cut cuts a valid text at limit bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
