package agent

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/wire"
)

// previewLength is how many characters of a result tool_done shows (product.md).
const previewLength = 200

// preview is the beginning of a text as one line.
func preview(text string) string {
	var b strings.Builder
	count, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > 0
			continue
		}
		if space && count < previewLength {
			b.WriteByte(' ')
			count++
		}
		if space = false; count == previewLength {
			break
		}
		b.WriteRune(r)
		count++
	}
	return strings.TrimSuffix(b.String(), " ")
}

// cut returns the first bytes of a text, ending at a whole character.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// cutResult is what of a tool's result the model gets to see. whole is how long the result is where the
// text is only its beginning, else 0.
func cutResult(text string, size, whole int) string {
	begin := text
	if size > 0 {
		begin = cut(text, size)
	}
	whole = max(whole, len(text))
	if len(begin) == whole {
		return text
	}
	return fmt.Sprintf("%s\n[cut here: these are the first %d of %d bytes; ask for a smaller part if more is needed]", begin, len(begin), whole)
}

// counted is a number of things, for people.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// joined is all text of several steps, escaped as they are.
func joined(texts [][]byte) []byte { return bytes.Join(texts, []byte(`\n\n`)) }

// names are the tools of a round, for people.
func (r *round) names() string {
	var names []string
	for _, i := range r.due {
		if name := r.calls[i].Tool; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return cut(strings.Join(names, ", "), previewLength)
}

// callID is what the host is told of a call's id.
func (t *turn) callID(call *wire.TurnCall) string {
	if t.CallIDs {
		return call.ID
	}
	return ""
}

// callIDs are those of the turn so far.
func (t *turn) callIDs() map[string]bool {
	ids := map[string]bool{}
	for i := range t.record.Steps {
		for c := range t.record.Steps[i].Calls {
			ids[t.record.Steps[i].Calls[c].ID] = true
		}
	}
	return ids
}

func (t *turn) offered(name string) bool {
	return slices.ContainsFunc(t.tools, func(tool wire.Tool) bool { return tool.Name == name })
}

// unknownTool tells the model what it can call instead.
func (t *turn) unknownTool(name string) string {
	var known []string
	for _, tool := range t.tools {
		known = append(known, tool.Function)
	}
	if len(known) == 0 {
		return "There is no tool " + cut(name, 64) + ", nor any other. Answer without tools."
	}
	return "There is no tool " + cut(name, 64) + ". These can be called: " + cut(strings.Join(known, ", "), 2000) + "."
}
