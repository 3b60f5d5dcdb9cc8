package toolcall

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// readWhole reads an answer that is a call as a whole, without markup that announces it. It reports
// whether the answer was such.
func (b *builder) readWhole() bool {
	text := trimAnswer(b.step.Text)
	if !mayBeWhole(text) {
		return false
	}
	var r reader
	var drafts []draft
	var ok bool
	switch {
	case strings.HasPrefix(text, "functools["): // Phi-4
		text = text[len("functools"):]
		drafts, ok = b.wholeJSON(&r, text)
	case strings.HasPrefix(text, "commentary to="), strings.HasPrefix(text, "to="):
		drafts, ok = b.wholeAddressed(&r, text)
	case text[0] == '[' && pythonAt(text, 0):
		r = reader{in: text, cut: b.step.Cut}
		drafts, ok = r.python()
		r.fixes |= fixPython
		ok = ok && r.pos == len(text)
	default:
		drafts, ok = b.wholeJSON(&r, text)
	}
	if !ok || !b.callable(drafts) {
		return r.readThrough() || len(b.reading.Problems) > 0
	}
	if b.addAll(drafts) {
		b.reading.Text = ""
		b.repaired(r.fixes | fixText)
	}
	return true
}

// readThrough reports whether the answer is one JSON value, or a broken one that ends inside a text or
// has a member at least: markup in it may be data.
func (r *reader) readThrough() bool {
	if r.fault != nil {
		return r.fault.what == unclosed || len(r.out) > 0 && r.out[0] == '{' && bytes.IndexByte(r.out, ':') > 0
	}
	return len(r.out) > 0 && r.pos == len(r.in)
}

// trimAnswer takes a leading thought, blanks and the template's closing tokens off.
func trimAnswer(text string) string {
	text = strings.TrimSpace(text)
	if m := markupAt(text, 0); m != nil && m.kind == thoughtStart {
		_, behind, ok := strings.Cut(text, m.close[0])
		if !ok {
			return ""
		}
		text = strings.TrimSpace(behind)
	}
	for again := true; again; {
		again = false
		for _, token := range tokens {
			if strings.HasSuffix(text, token) {
				text, again = strings.TrimSpace(strings.TrimSuffix(text, token)), true
			}
		}
	}
	return text
}

// mayBeWhole rules out most answers by how they begin and end.
func mayBeWhole(text string) bool {
	if text == "" {
		return false
	}
	switch text[0] {
	case '{', '[':
		return true
	case '`':
		label, _, _ := strings.Cut(text, "\n")
		label = strings.TrimSpace(strings.TrimPrefix(label, "```"))
		return strings.HasSuffix(text, "```") && (label == "json" || label == "" || strings.HasPrefix(label, "{"))
	}
	return strings.HasPrefix(text, "functools[") || strings.HasPrefix(text, "commentary to=") || strings.HasPrefix(text, "to=")
}

// wholeJSON reads calls that are JSON, one behind another, without anything around but a fence.
func (b *builder) wholeJSON(r *reader, text string) (drafts []draft, ok bool) {
	*r = reader{in: text, cut: b.step.Cut}
	for {
		r.out = r.out[:0]
		end, ok := r.fenced()
		if !ok {
			b.wholeBroken(r)
			return nil, false
		}
		more, fixes, f := shape(r.out)
		r.fixes |= fixes
		if drafts = append(drafts, more...); f != nil {
			return nil, false
		}
		if r.pos = behindSeparator(text, end); end == len(text) {
			return drafts, true
		}
		if r.pos == len(text) || text[r.pos] != '{' {
			return nil, false
		}
	}
}

// wholeBroken makes a problem of JSON that can't be read but begins as the call of an offered tool.
func (b *builder) wholeBroken(r *reader) {
	out := bytes.TrimPrefix(r.out, []byte("["))
	rest, ok := bytes.CutPrefix(out, []byte(`{"name":`))
	name, rest, _ := bytes.Cut(rest, []byte(","))
	if !ok || !gjson.ValidBytes(name) {
		return
	}
	if !bytes.HasPrefix(rest, []byte(`"arguments":`)) && !bytes.HasPrefix(rest, []byte(`"parameters":`)) {
		return
	}
	if resolve(gjson.ParseBytes(name).String(), b.step.Tools).tool != nil {
		b.problem(textProblem(r.fault))
	}
}

// wholeAddressed reads what is left of a harmony message when its special tokens were not printed: a
// channel, the function it is addressed to, its type, and JSON.
func (b *builder) wholeAddressed(r *reader, text string) (drafts []draft, ok bool) {
	_, to, _ := strings.Cut(text, "to=")
	brace := strings.IndexByte(to[:min(len(to), maxHeader)], '{')
	if brace < 0 {
		return nil, false
	}
	header := strings.Fields(to[:brace])
	if len(header) == 0 || len(header) > 2 || len(header) == 2 && header[1] != "json" && header[1] != "code" {
		return nil, false
	}
	*r = reader{in: to, pos: brace, cut: b.step.Cut}
	end, ok := r.fenced()
	if !ok && resolve(header[0], b.step.Tools).tool != nil {
		b.problem(textProblem(r.fault))
	}
	if !ok || end < len(to) {
		return nil, false
	}
	args, fixes, f := readArguments(string(r.out), false)
	r.fixes |= fixes
	return []draft{{name: header[0], args: args, hasArgs: true}}, f == nil
}

// callable reports whether all that can be made are calls of offered tools with arguments.
func (b *builder) callable(drafts []draft) bool {
	for _, d := range drafts[:min(len(drafts), MaxCalls)] {
		if !d.hasArgs || resolve(d.name, b.step.Tools).tool == nil {
			return false
		}
	}
	return len(drafts) > 0
}
