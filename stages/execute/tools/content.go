package tools

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// contentText is a result as text: its texts, a line each; for what is no text a note; the structured
// content where there is nothing else.
func contentText(r *mcp.CallToolResult) string {
	var parts []string
	for _, content := range r.Content {
		if part := partText(content); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		return compact(r.StructuredContent)
	}
	return strings.Join(parts, "\n")
}

func partText(content mcp.Content) string {
	switch c := content.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return note("image", c.MIMEType, len(c.Data), "")
	case *mcp.AudioContent:
		return note("audio", c.MIMEType, len(c.Data), "")
	case *mcp.ResourceLink:
		size := -1
		if c.Size != nil {
			size = int(*c.Size)
		}
		return note("resource", c.MIMEType, size, strings.TrimSpace(c.Name+" "+c.URI))
	case *mcp.EmbeddedResource:
		return resourceText(c.Resource)
	}
	return "[content of a kind that can't be shown]"
}

func resourceText(r *mcp.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Blob != nil:
		return note("resource", r.MIMEType, len(r.Blob), r.URI)
	}
	return r.Text
}

// note stands for content that is no text. A negative size isn't known.
func note(kind, mimeType string, size int, name string) string {
	parts := []string{kind}
	if name != "" {
		parts = append(parts, name)
	}
	if mimeType != "" {
		parts = append(parts, mimeType)
	}
	if size >= 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", size))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
