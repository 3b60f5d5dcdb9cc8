package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/wire"
)

// catalog is a server's tools at one time. It doesn't change.
type catalog struct {
	tools   []wire.Tool // sorted by name
	byName  map[string]*entry
	warning string // says that there are more tools, and why they are missing; else empty
}

// entry is one tool. The name is the server's own.
type entry struct {
	own    string
	schema *schema
}

// maxName is how long a tool's own name may be in bytes.
const maxName = 256

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
