package demo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// tool is a function that a request offers.
type tool struct {
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// toolCall is one call that the demo makes, as the chat template would have it: when
// tools are given and the last message is a user's that holds "/call".
type toolCall struct {
	id, name  string
	arguments string // a JSON object in ASCII
}

// wantsCall reports whether the chat template asks for a call: tools are given and the last message is
// a user's that holds "/call" in the user's own words.
func (r *chatRequest) wantsCall() bool {
	if len(r.Tools) == 0 || len(r.conversation) == 0 {
		return false
	}
	return r.conversation[len(r.conversation)-1].Role == "user" && strings.Contains(r.said(), "/call")
}

// said is what the last message says in the user's own words: what an engine remembers of earlier
// turns may stand before them, marked as memory.
func (r *chatRequest) said() string {
	content := string(r.conversation[len(r.conversation)-1].Content)
	return content[strings.LastIndex(content, memoryEnd)+1:]
}

// memoryEnd is the mark behind remembered text, in chat.jinja too.
const memoryEnd = "</memory>"

// toolCall returns the call that a request asks for, or nil. The tool is the first one
// that the message names, else the first of all.
func (r *chatRequest) toolCall() *toolCall {
	if !r.wantsCall() || string(r.ToolChoice) == `"none"` {
		return nil
	}
	said, called := r.said(), r.Tools[0]
	named := func(t tool) bool {
		return t.Function.Name != "" && strings.Contains(said, t.Function.Name)
	}
	if at := slices.IndexFunc(r.Tools, named); at >= 0 {
		called = r.Tools[at]
	}
	return &toolCall{id: rand.Text(), name: called.Function.Name, arguments: exampleArguments(called.Function.Parameters)}
}

// tokens gives the call out byte by byte, as the model would.
func (c *toolCall) tokens() func() (Token, bool) {
	rest := c.arguments
	return func() (Token, bool) {
		if rest == "" {
			return 0, false
		}
		token := byteToken(rest[0])
		rest = rest[1:]
		return token, true
	}
}

// schema is what an example needs to know of a JSON schema.
type schema struct {
	Type       any               `json:"type"` // a name, or a list of names
	Enum       []json.RawMessage `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
}

// exampleArguments is the shortest object that suits the parameters' schema, as far
// as types, required members and enumerations go; without a usable schema it is {}.
func exampleArguments(parameters json.RawMessage) string {
	var object schema
	if json.Unmarshal(parameters, &object) != nil {
		return "{}"
	}
	return escapeNonASCII(string(object.exampleObject()))
}

func (s schema) example() []byte {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind := s.Type
	if kinds, ok := kind.([]any); ok && len(kinds) > 0 {
		kind = kinds[0]
	}
	switch kind {
	case "string":
		return []byte(`""`)
	case "integer", "number":
		return []byte("1")
	case "boolean":
		return []byte("true")
	case "array":
		return []byte("[]")
	case "object":
		return s.exampleObject()
	}
	return []byte("null")
}

func (s schema) exampleObject() []byte {
	object := []byte("{")
	for i, name := range s.Required {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(object, jsonString(name)...), ':')
		object = append(object, s.Properties[name].example()...)
	}
	return append(object, '}')
}

// escapeNonASCII makes JSON ASCII, so that it can be cut at any byte.
func escapeNonASCII(document string) string {
	var b strings.Builder
	for _, r := range document {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default: // as a surrogate pair
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		}
	}
	return b.String()
}
