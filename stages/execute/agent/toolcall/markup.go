package toolcall

import "strings"

// kind says what stands behind an opening token.
type kind uint8

const (
	// plain tokens of a template have nothing inside: they are neither text nor call.
	plain kind = iota
	// holds JSON, Python calls or a <function=…>.
	values
	// wraps other markup, or else is as values.
	wrapper
	// function is <function=name> or the like with JSON or parameters inside.
	function
	// named has the name first, then the arguments.
	named
	// mistral is as values or as named.
	mistral
	// harmony is the header of a message of gpt-oss, which may be addressed to a function.
	harmony
	// fenced is a code fence whose label says that a call is inside.
	fenced
	thoughtStart
	thoughtEnd
)

// markup is a token that opens a call, with those that may close it.
type markup struct {
	open  string
	kind  kind
	close []string
}

// markups are what chat templates of the named families make models write.
var markups = withTokens([]markup{
	{"<tool_call>", values, []string{"</tool_call>"}},              // Hermes, Qwen, and many after them
	{"<function_call>", values, []string{"</function_call>"}},      // fine-tuned Llama and Mistral models
	{"<functioncall>", values, []string{"</functioncall>"}},        // Glaive
	{"<TOOLCALL>", values, []string{"</TOOLCALL>"}},                // Nemotron
	{"<tool_calls>", wrapper, []string{"</tool_calls>"}},           // Llama-Nemotron, InternLM and others
	{"<|tool_call|>", values, []string{"<|/tool_call|>"}},          // Phi-4-mini; Granite without the end
	{"<|python_tag|>", values, nil},                                // Llama 3.x
	{"<|START_ACTION|>", values, []string{"<|END_ACTION|>"}},       // Command R7B and A
	{"<|tool_call_start|>", values, []string{"<|tool_call_end|>"}}, // LFM2
	{"<|tool_call>", values, []string{"<tool_call|>"}},             // Gemma 4
	{"<function=", function, []string{"</function>"}},              // Llama 3.x, Qwen3-Coder
	{"<invoke name=", function, []string{"</invoke>"}},             // MiniMax M2
	{"<minimax:tool_call>", wrapper, []string{"</minimax:tool_call>"}},
	{"<function_calls>", wrapper, []string{"</function_calls>"}},
	{"<｜tool▁call▁begin｜>", named, []string{"<｜tool▁call▁end｜>"}}, // DeepSeek V3, R1, V3.1
	{"<|tool_call_begin|>", named, []string{"<|tool_call_end|>"}}, // Kimi K2
	{"<|channel|>", harmony, []string{"<|call|>"}},                // gpt-oss
	{"<|start|>", harmony, []string{"<|call|>"}},
	{"[TOOL_CALLS]", mistral, nil}, // Mistral
	{"```tool_call", fenced, []string{"```"}},
	{"```tool_code", fenced, []string{"```"}},       // Gemma
	{"<think>", thoughtStart, []string{"</think>"}}, // DeepSeek R1, Qwen and many after them
	{"</think>", thoughtEnd, nil},
	{"<thinking>", thoughtStart, []string{"</thinking>"}},
	{"</thinking>", thoughtEnd, nil},
	{"<thought>", thoughtStart, []string{"</thought>"}},
	{"</thought>", thoughtEnd, nil},
	{"<seed:think>", thoughtStart, []string{"</seed:think>"}}, // Seed-OSS
	{"</seed:think>", thoughtEnd, nil},
	{"[THINK]", thoughtStart, []string{"[/THINK]"}}, // Magistral
})

// tokens are the plain ones.
var tokens = []string{
	"</tool_call>", "</tool_calls>", "</function>", "</function_calls>", "</minimax:tool_call>",
	"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "<｜end▁of▁sentence｜>",
	"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_end|>",
	"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|call|>", "<|return|>",
	"<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<turn|>", "</s>",
}

func withTokens(list []markup) []markup {
	for _, token := range tokens {
		list = append(list, markup{open: token})
	}
	return list
}

// behindLess are the markups that begin with '<', by the byte behind it; others are the rest.
var behindLess, others = sorted()

func sorted() (behindLess [256][]*markup, others []*markup) {
	for k := range markups {
		m := &markups[k]
		if m.open[0] == '<' {
			behindLess[m.open[1]] = append(behindLess[m.open[1]], m)
		} else {
			others = append(others, m)
		}
	}
	return behindLess, others
}

// markupAt returns the markup that begins at i.
func markupAt(text string, i int) *markup {
	if i+2 >= len(text) {
		return nil
	}
	list := others
	if text[i] == '<' {
		list = behindLess[text[i+1]]
	}
	for _, m := range list {
		if m.open[2] == text[i+2] && strings.HasPrefix(text[i:], m.open) {
			return m
		}
	}
	return nil
}

// finder finds markup from left to right.
type finder struct {
	text string
	// next are the places of the next markup with '<', "[T" and "```tool_"; len(text) when there is none.
	next [3]int
	// begun says that next is set.
	begun bool
}

// from returns the first markup at or after i; i never falls.
func (f *finder) from(i int) (at int, m *markup) {
	for {
		for k := range f.next {
			if !f.begun || f.next[k] < i {
				f.next[k] = f.search(k, i)
			}
		}
		f.begun = true
		at = min(f.next[0], f.next[1], f.next[2])
		if at == len(f.text) {
			return at, nil
		}
		if m = markupAt(f.text, at); m != nil {
			return at, m
		}
		i = at + 1
	}
}

func (f *finder) search(k, from int) int {
	at := -1
	switch k {
	case 0:
		return f.tag(from)
	case 1:
		at = strings.Index(f.text[from:], "[T")
	case 2:
		at = strings.Index(f.text[from:], "```tool_")
	}
	if at < 0 {
		return len(f.text)
	}
	return from + at
}

// tag returns where the next '<' stands that may begin markup.
func (f *finder) tag(from int) int {
	for {
		at := strings.IndexByte(f.text[from:], '<')
		if at < 0 {
			return len(f.text)
		}
		if from += at; markupAt(f.text, from) != nil {
			return from
		}
		from++
	}
}
