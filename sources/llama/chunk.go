package llama

import (
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// chunkParser reads the chunks of one chat.completions stream into token batches. What it has learned
// of one chunk lets it read the next one by comparing; see template.
type chunkParser struct {
	template template
	calls    callReader
	key      string // which no message repeats
	// full counts the chunks that took the full parse, for tests.
	full int
}

// parse reads the data of one event into out. A *wire.Fault means that the server reported an error
// or sent something that is no chunk. Token texts alias data.
func (p *chunkParser) parse(data []byte, out *wire.Tokens) *wire.Fault {
	if raw, plain, ok := p.template.match(data); ok {
		if len(raw) > 0 {
			out.Items = append(out.Items, wire.Token{Kind: p.template.kind, Plain: plain, Raw: raw})
		}
		return nil
	}
	p.full++
	return p.parseFull(data, out)
}

// parseFull reads a chunk with a JSON parser and lets the template learn from it.
func (p *chunkParser) parseFull(data []byte, out *wire.Tokens) *wire.Fault {
	text := unsafe.String(unsafe.SliceData(data), len(data))
	if wire.TooDeep(data) || !gjson.Valid(text) {
		return wire.NewFault(wire.CodeInternal, "the model server sent a chunk that is not JSON: "+excerpt(text, p.key)+"; check that the address is a llama-server")
	}
	if e := gjson.Get(text, "error"); e.Type != gjson.Null {
		return wire.NewFault(wire.CodeInternal, "the model server reported an error in mid-stream: "+errorText(e, p.key)+"; try again, and look at its log")
	}
	facts := readFacts(text, out)
	delta := gjson.Get(text, "choices.0.delta")
	content, reasoning := delta.Get("content"), delta.Get("reasoning_content")
	appendText(out, wire.TokenReasoning, reasoning)
	appendText(out, wire.TokenContent, content)
	calls := p.calls.read(delta, out)
	switch {
	case facts || calls || hasText(content) == hasText(reasoning):
	case hasText(content):
		p.template.learn(data, wire.TokenContent, content)
	default:
		p.template.learn(data, wire.TokenReasoning, reasoning)
	}
	return nil
}

func hasText(v gjson.Result) bool { return v.Type == gjson.String && len(v.Raw) > 2 }

func appendText(out *wire.Tokens, kind wire.TokenKind, v gjson.Result) {
	if hasText(v) {
		inner := v.Raw[1 : len(v.Raw)-1]
		raw := unsafe.Slice(unsafe.StringData(inner), len(inner))
		out.Items = append(out.Items, wire.Token{Kind: kind, Plain: wire.IsPlain(raw), Raw: raw})
	}
}

// readFacts reads what a chunk tells besides text, and reports whether it told anything.
func readFacts(text string, out *wire.Tokens) bool {
	any := false
	if finish := gjson.Get(text, "choices.0.finish_reason"); finish.Type == gjson.String {
		out.Finish = strings.Clone(finish.String())
		any = true
	}
	if u := gjson.Get(text, "usage"); u.IsObject() {
		out.Usage = &wire.Usage{PromptTokens: u.Get("prompt_tokens").Int(), CompletionTokens: u.Get("completion_tokens").Int()}
		any = true
	} else if t := gjson.Get(text, "timings"); t.IsObject() && out.Usage == nil {
		out.Usage = &wire.Usage{PromptTokens: t.Get("cache_n").Int() + t.Get("prompt_n").Int(), CompletionTokens: t.Get("predicted_n").Int()}
		any = true
	}
	if progress := gjson.Get(text, "prompt_progress"); progress.IsObject() {
		out.Progress = &wire.PromptProgress{Total: progress.Get("total").Int(), Cached: progress.Get("cache").Int(), Processed: progress.Get("processed").Int()}
		any = true
	}
	return any
}

// longestExcerpt bounds how many bytes of a server's text a message repeats.
const longestExcerpt = 300

// excerpt is the beginning of a server's text, without the key, which some repeat when it is wrong.
func excerpt(text, key string) string {
	text = hideKey(text, key)
	if len(text) > longestExcerpt {
		return text[:longestExcerpt] + "…"
	}
	return text
}

// errorText reads llama-server's error object, or whatever stands in its place; it may alias that.
func errorText(e gjson.Result, key string) string {
	if message := e.Get("message"); message.Type == gjson.String {
		return excerpt(message.String(), key)
	}
	return excerpt(e.Raw, key)
}
