package toolcall

import (
	"strings"
	"testing"

	"sluice/internal/wire"
)

const mebibyte = 1 << 20

// filled repeats a piece to a mebibyte.
func filled(piece string) string { return repeated(piece, mebibyte) }

func repeated(piece string, size int) string {
	return strings.Repeat(piece, size/len(piece)+1)[:size]
}

// plainAnswers have no call.
var plainAnswers = map[string]string{
	"prose": filled("A stream is a sequence of elements (e.g. lines) that arrive over time; \"backpressure\" slows its source.\n"),
	"code":  filled("```go\nfor i := 0; i < len(list[i]); i++ { c <- `x` + list[i] }\n```\nSee [the <b>docs</b>](https://x/y).\n"),
	"html":  filled("<table><tr><td>1</td></tr></table><form><font></font></form>\n"),
}

// BenchmarkPlain is what every step of every chat pays.
func BenchmarkPlain(b *testing.B) {
	for name, text := range plainAnswers {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if got := Read(Step{Text: text, Tools: offered}); len(got.Calls) != 0 {
					b.Fatal("a call")
				}
			}
		})
	}
}

// BenchmarkMemchr is what BenchmarkPlain is to be compared with.
func BenchmarkMemchr(b *testing.B) {
	text := plainAnswers["prose"]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if strings.IndexByte(text, '\x00') >= 0 {
			b.Fatal("found")
		}
	}
}

func BenchmarkServed(b *testing.B) {
	for name, args := range map[string]string{
		"small": `{"path":"src/main.go","lines":20,"all":true}`,
		"1MiB":  `{"path":"a.txt","content":"` + filled(`A line of a file, with \"quotes\".\n`)[:mebibyte-2] + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			step := Step{Calls: []wire.ToolCall{{ID: "a", Function: "fs__read_file", Arguments: args}}, Tools: offered}
			b.SetBytes(int64(len(args)))
			b.ReportAllocs()
			for b.Loop() {
				if got := Read(step); len(got.Calls) != 1 {
					b.Fatal(got.Problems)
				}
			}
		})
	}
}

// TestPlainAllocations: an answer without calls costs no memory that grows with it.
func TestPlainAllocations(t *testing.T) {
	for name, text := range plainAnswers {
		step := Step{Text: text, Tools: offered}
		if got := testing.AllocsPerRun(3, func() { Read(step) }); got > 8 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// TestHostile reads 128 KiB of what would take hours if the work grew with the square of the length.
func TestHostile(t *testing.T) {
	const call = `{"name":"fs__list","arguments":{"a":1}}`
	for _, piece := range []string{
		"<", "<tool_call>", "<tool_call>{", "<tool_call>[", "<tool_call>" + call, "<tool_call> ", "x<tool_call>\n", "`<tool_call>", "` ` ",
		"<tool_call>x</tool_call>", "[TOOL_CALLS]", "[TOOL_CALLS]x{}", "[TOOL_CALLS]x", "```tool_call\n", "```tool_call x`", "````tool_call",
		"<function=", "<function=x>", "<function=x>{}", "<function=x>{}</function>", "<function=fs__list>\n<parameter=a>",
		"<parameter=a>1</parameter>", "<think>", "</think>", "<think></think>", "<|channel|>", "<|channel|>x<|message|>", "<|start|>to=x<|message|>{}",
		"<|channel|>analysis<|message|>", "<|python_tag|>x(", "<|python_tag|>f(a=1)", "<｜tool▁call▁begin｜>", "<｜tool▁call▁begin｜>f{}",
		"[", "{", "{\"a\":", "[1,", "[{},", "\"", "'", "/*", "{/*", "#\n", "//\n", "}", "f(", "f(a=", "</s>", "<|im_end|> ", "\n", " ", "`", "\\", "\xff", "…",
		call, call + ",", "fs__list(),",
	} {
		text := repeated(piece, mebibyte/8)
		for _, step := range []Step{
			{Text: text}, {Text: text + "</tool_call>"}, {Text: "{" + text}, {Text: "[" + text + "]"}, {Text: "<tool_call>" + text},
			{Text: "<function=fs__list>" + text + "</function>"}, {Text: "```json\n" + text + "\n```"}, {Text: text + ")"},
			{Calls: []wire.ToolCall{{Function: "f", Arguments: text}}},
			{Calls: []wire.ToolCall{{Function: text, Arguments: "{\"a\":\"" + text + "\"}"}}},
		} {
			step.Tools = offered
			Read(step)
		}
	}
}
