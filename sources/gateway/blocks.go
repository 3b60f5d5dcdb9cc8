package gateway

import (
	"strings"

	"github.com/tidwall/gjson"
)

// flatten is the input or output of a turn as one text: nothing for null, a string itself, the texts of
// content blocks joined by newlines, and the JSON of anything else.
func flatten(v gjson.Result) string {
	if !v.IsArray() {
		return textOf(v)
	}
	blocks := v.Array()
	lines := make([]string, len(blocks))
	for i, block := range blocks {
		if block.Type != gjson.String && !block.IsObject() {
			return v.Raw // no blocks but some other array
		}
		lines[i] = blockText(block)
	}
	return strings.Join(lines, "\n")
}

// blockText is what one content block shows.
func blockText(block gjson.Result) string {
	if block.Type == gjson.String {
		return block.String()
	}
	if kind := block.Get("type"); kind.Type == gjson.String && strings.Contains(kind.String(), "image") {
		return "[image]"
	}
	if text := block.Get("text"); text.Type == gjson.String {
		return text.String()
	}
	return block.Raw
}
