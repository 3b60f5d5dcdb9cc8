package llama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// rendered returns a chunk as llama-server renders it (recorded shape, see sources/demo).
func rendered(delta, finish string, created int, more string) string {
	return fmt.Sprintf(`{"choices":[{"finish_reason":%s,"index":0,"delta":%s}],"created":%d,"id":"chatcmpl-jN0kgI653Q2MCoFiokMub7qh7k8d8ayo","model":"m","system_fingerprint":"b1-80fb11a","object":"chat.completion.chunk"%s}`,
		finish, delta, created, more)
}

func content(text string) string { return rendered(`{"content":`+text+`}`, "null", 1, "") }

// texts joins what a parser reads of the chunks, kind by kind.
func texts(t *testing.T, p *chunkParser, chunks ...string) (text, reasoning string, tokens wire.Tokens) {
	t.Helper()
	for _, c := range chunks {
		if fault := p.parse([]byte(c), &tokens); fault != nil {
			t.Fatalf("%s: %v", c, fault)
		}
	}
	for _, token := range tokens.Items {
		if token.Kind == wire.TokenContent {
			text += string(token.Raw)
		} else {
			reasoning += string(token.Raw)
		}
	}
	return text, reasoning, tokens
}

func TestChunks(t *testing.T) {
	var p chunkParser
	text, reasoning, tokens := texts(t, &p,
		rendered(`{"role":"assistant","content":null}`, "null", 1, `,"prompt_progress":{"total":30,"cache":12,"processed":18,"time_ms":1}`),
		rendered(`{"role":"assistant","content":null}`, "null", 1, ""),
		rendered(`{"reasoning_content":"so"}`, "null", 1, `,"error":null`),
		content(`" a"`), content(`"b\n"`), content(`"\u00e9"`), content(`"\"q\" \\"`), content(`""`), content(`"é"`),
		rendered(`{}`, `"stop"`, 2, `,"timings":{"cache_n":10,"prompt_n":5,"predicted_n":7}`),
		`{"choices":[],"created":2,"usage":{"completion_tokens":7,"prompt_tokens":15,"total_tokens":22},"timings":{"predicted_n":1}}`)
	if text != ` ab\n\u00e9\"q\" \\é` || reasoning != "so" {
		t.Errorf("text %q, reasoning %q", text, reasoning)
	}
	if tokens.Finish != "stop" || *tokens.Usage != (wire.Usage{PromptTokens: 15, CompletionTokens: 7}) {
		t.Errorf("finish %q, usage %v", tokens.Finish, tokens.Usage)
	}
	if *tokens.Progress != (wire.PromptProgress{Total: 30, Cached: 12, Processed: 18}) {
		t.Errorf("progress %v", tokens.Progress)
	}
}

func TestTimingsStandInForUsage(t *testing.T) {
	_, _, tokens := texts(t, &chunkParser{}, rendered(`{}`, `"length"`, 2, `,"timings":{"cache_n":10,"prompt_n":5,"predicted_n":7}`))
	if tokens.Finish != "length" || *tokens.Usage != (wire.Usage{PromptTokens: 15, CompletionTokens: 7}) {
		t.Errorf("finish %q, usage %v", tokens.Finish, tokens.Usage)
	}
}

func TestOnlyTheFirstOfAlikeChunksIsParsedInFull(t *testing.T) {
	var p chunkParser
	for i := range 1000 {
		var tokens wire.Tokens
		if fault := p.parse([]byte(content(fmt.Sprintf(`"w%d\n"`, i))), &tokens); fault != nil || len(tokens.Items) != 1 {
			t.Fatal(fault, tokens)
		}
	}
	if p.full != 1 {
		t.Errorf("%d chunks were parsed in full", p.full)
	}
	var tokens wire.Tokens
	p.parse([]byte(rendered(`{"content":"x"}`, "null", 2, "")), &tokens)
	p.parse([]byte(rendered(`{"content":"y"}`, "null", 2, "")), &tokens)
	if p.full != 2 {
		t.Errorf("a new second was learned %d times", p.full-1)
	}
}

func TestFaultyChunks(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"error frame":    {`{"error":{"code":500,"message":"decode failed","type":"server_error"}}`, "decode failed"},
		"error text":     {`{"error":"gone"}`, "gone"},
		"no JSON":        {`<html>`, "not JSON"},
		"cut off":        {content(`"x"`)[:100], "not JSON"},
		"bad escape":     {content(`"\x"`), "not JSON"},
		"raw control":    {content("\"\x01\""), "not JSON"},
		"long text":      {strings.Repeat("x", 10000), "…"},
		"nested deeply":  {strings.Repeat("[", maxFrameBytes), "not JSON"},
		"error is empty": {`{"error":{}}`, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			var p chunkParser
			var tokens wire.Tokens
			p.parse([]byte(content(`"warm"`)), &tokens)
			tokens.Reset()
			fault := p.parse([]byte(c.data), &tokens)
			if fault == nil || fault.Code != wire.CodeInternal || !strings.Contains(fault.Message, c.says) || len(fault.Message) > 600 {
				t.Errorf("%v", fault)
			}
			if len(tokens.Items) != 0 {
				t.Errorf("tokens of a faulty chunk: %v", tokens.Items)
			}
		})
	}
}

// FuzzChunk holds the template to the full parse: whatever was learned, a chunk means the same.
func FuzzChunk(f *testing.F) {
	for _, seed := range [][2]string{
		{content(`"a"`), content(`"b"`)},
		{content(`"a"`), content(`"\ud83d"`)},
		{content(`"a"`), content(`"","role":"x"`)},
		{content(`"a"`), rendered(`{"content":"a"}`, `"stop"`, 1, "")},
		{content(`"a"`), rendered(`{"content":"a","reasoning_content":"b"}`, "null", 1, "")},
		{rendered(`{"reasoning_content":"a"}`, "null", 1, ""), content(`"b"`)},
		{`{"choices":[{"delta":{"content":"a","tool_calls":[{"id":"x"}]}}]}`, `{"choices":[{"delta":{"content":"b","tool_calls":[{"id":"x"}]}}]}`},
		{content(`"a"`), rendered(`{"content":"a","function_call":{"name":"f","arguments":"{}"}}`, "null", 1, "")},
		{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"}}]}`},
		{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"}}`},
		{`{"content":"x","choices":[{"delta":{"content":"x"}}]}`, `{"content":"x","choices":[{"delta":{"content":"y"}}]}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var learned, fresh chunkParser
		var scratch, got, want wire.Tokens
		learned.parse(first, &scratch)
		fresh.calls = callReader{slices.Clone(learned.calls.begun)}
		a, b := learned.parse(second, &got), fresh.parse(second, &want)
		if (a == nil) != (b == nil) || fmt.Sprint(summary(&got)) != fmt.Sprint(summary(&want)) {
			t.Fatalf("learned %q\nread    %q\ngot  %v %v\nwant %v %v", first, second, a, summary(&got), b, summary(&want))
		}
		for _, token := range got.Items {
			if token.Plain && !json.Valid(append(append([]byte(`"`), token.Raw...), '"')) {
				t.Fatalf("%q is said to be plain", token.Raw)
			}
		}
	})
}

func summary(t *wire.Tokens) []string {
	list := []string{t.Finish, fmt.Sprint(t.Usage != nil), fmt.Sprint(t.Progress != nil), fmt.Sprint(t.Calls)}
	for _, token := range t.Items {
		list = append(list, fmt.Sprint(token.Kind, token.Plain, string(token.Raw)))
	}
	return list
}

func TestAlikeChunksCostNoAllocation(t *testing.T) {
	var p chunkParser
	var tokens wire.Tokens
	a, b := []byte(content(`" stream"`)), []byte(content(`"\n"`))
	p.parse(a, &tokens)
	allocations := testing.AllocsPerRun(100, func() {
		tokens.Reset()
		p.parse(a, &tokens)
		p.parse(b, &tokens)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkChunk(b *testing.B) {
	data := []byte(content(`" stream"`))
	for name, forget := range map[string]bool{"template": false, "full": true} {
		b.Run(name, func(b *testing.B) {
			var p chunkParser
			var tokens wire.Tokens
			b.ReportAllocs()
			for b.Loop() {
				tokens.Reset()
				if forget {
					p.template.prefix = p.template.prefix[:0]
				}
				p.parse(data, &tokens)
			}
		})
	}
}
