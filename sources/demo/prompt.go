package demo

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// applyTemplate answers POST /apply-template with the prompt that a chat of the same messages and tools
// has.
func (h *handler) applyTemplate(w http.ResponseWriter, r *http.Request) {
	request, refused := decodeChat(r)
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"prompt": request.prompt()})
}

// prompt renders the conversation as chat.jinja does, with add_generation_prompt.
func (r *chatRequest) prompt() string {
	var b strings.Builder
	if len(r.Tools) > 0 {
		b.WriteString("<|im_start|>system\nThese tools can be called:\n<tools>\n")
		for _, t := range r.Tools {
			b.WriteString(t.text() + "\n")
		}
		b.WriteString("</tools>\nCall one with <tool_call>{\"name\": <function-name>, \"arguments\": <args-json-object>}</tool_call><|im_end|>\n")
	}
	for _, m := range r.conversation {
		m.render(&b)
	}
	b.WriteString("<|im_start|>assistant\n")
	if r.wantsCall() {
		b.WriteString("<|call|>")
	}
	return b.String()
}

func (m *message) render(b *strings.Builder) {
	content := string(m.Content)
	switch {
	case m.Role == "tool":
		b.WriteString("<|im_start|>user\n<tool_response>\n" + content + "\n</tool_response><|im_end|>\n")
	case m.Role == "assistant" && len(m.ToolCalls) > 0:
		b.WriteString("<|im_start|>assistant\n")
		if content != "" {
			b.WriteString(content + "\n")
		}
		for _, c := range m.ToolCalls {
			b.WriteString("<tool_call>\n{\"name\": \"" + c.Function.Name + "\", \"arguments\": " + spacedJSON(c.Function.Arguments) + "}\n</tool_call>")
		}
		b.WriteString("<|im_end|>\n")
	default:
		b.WriteString("<|im_start|>" + m.Role + "\n" + content + "<|im_end|>\n")
	}
}

// text is the tool as llama-server hands it to a template.
func (t *tool) text() string {
	parameters := t.Function.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage("{}")
	}
	return `{"type": "function", "function": {"name": ` + plainString(t.Function.Name) + `, "description": ` + plainString(t.Function.Description) +
		`, "parameters": ` + spacedJSON(parameters) + `}}`
}

// spacedJSON writes valid JSON as the filter tojson does: a space after each colon and comma, and only
// those characters escaped that have to be.
func spacedJSON(raw json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		panic("an undecodable part of a decoded document: " + string(raw))
	}
	var b strings.Builder
	for text := compact.Bytes(); len(text) > 0; {
		n := 1
		switch text[0] {
		case '"':
			n = stringLength(text)
			var decoded string
			_ = json.Unmarshal(text[:n], &decoded) // a string of a valid document
			b.WriteString(plainString(decoded))
		case ':', ',':
			b.WriteString(string(text[0]) + " ")
		default:
			b.WriteByte(text[0])
		}
		text = text[n:]
	}
	return b.String()
}

// stringLength is the length of the valid JSON string at the start of text.
func stringLength(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
}

func plainString(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// tags are the pieces of the vocabulary that stand for themselves in a prompt.
var tags = map[string]Token{
	"<|im_start|>": imStartToken, "<|im_end|>": endToken, "<|call|>": callToken, "<tool_call>": toolOpenToken, "</tool_call>": toolCloseToken,
}

// TokenizePrompt is Tokenize for a text in which the tags of the chat template stand for themselves.
func (m *Model) TokenizePrompt(text string) []Token {
	var tokens []Token
	for from := 0; from < len(text); {
		at := strings.IndexByte(text[from:], '<')
		if at < 0 {
			break
		}
		from += at
		tag, token := tagAt(text[from:])
		if tag == "" {
			from++
			continue
		}
		tokens = append(append(tokens, m.Tokenize(text[:from])...), token)
		text, from = text[from+len(tag):], 0
	}
	return append(tokens, m.Tokenize(text)...)
}

// tagAt returns the tag that text begins with.
func tagAt(text string) (string, Token) {
	for tag, token := range tags {
		if strings.HasPrefix(text, tag) {
			return tag, token
		}
	}
	return "", 0
}
