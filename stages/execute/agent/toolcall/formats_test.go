package toolcall

import (
	"slices"
	"testing"
)

const (
	one = `fs__read_file{"path":"a.txt"}`
	two = one + ` fs__list{}`
)

// formats are what models of the named families write as text. Every case is a call of fs__read_file
// with the path a.txt unless it says otherwise.
var formats = map[string]struct{ text, calls, rest string }{
	"Hermes":                          {"<tool_call>\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>", one, ""},
	"Hermes, text before":             {"I'll look.\n<tool_call>\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>\n", one, "I'll look."},
	"Hermes, same line":               {"I'll look.<tool_call>{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}</tool_call>", one, "I'll look."},
	"Hermes, arguments first":         {"<tool_call>{\"arguments\": {\"path\": \"a.txt\"}, \"name\": \"fs__read_file\"}</tool_call>", one, ""},
	"Hermes, Python quotes":           {"<tool_call>\n{'arguments': {'path': 'a.txt'}, 'name': 'fs__read_file'}\n</tool_call>", one, ""},
	"Hermes, parameters":              {`<tool_call>{"name": "fs__read_file", "parameters": {"path": "a.txt"}}</tool_call>`, one, ""},
	"Hermes, arguments in a string":   {`<tool_call>{"name": "fs__read_file", "arguments": "{\"path\": \"a.txt\"}"}</tool_call>`, one, ""},
	"Hermes, no arguments":            {`<tool_call>{"name": "fs__list"}</tool_call>`, `fs__list{}`, ""},
	"Hermes, null":                    {`<tool_call>{"name": "fs__list", "arguments": null}</tool_call>`, `fs__list{}`, ""},
	"Hermes, not closed":              {`<tool_call>{"name": "fs__read_file", "arguments": {"path": "a.txt"}}`, one, ""},
	"Hermes, bracket missing":         {`<tool_call>{"name": "fs__read_file", "arguments": {"path": "a.txt"}</tool_call>`, one, ""},
	"Hermes, bracket too many":        {"<tool_call>\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}}\n</tool_call>", one, ""},
	"Hermes, two":                     {"<tool_call>\n{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"fs__list\",\"arguments\":{}}\n</tool_call>", two, ""},
	"Hermes, two, text between":       {"First.\n<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call>\nThen.\n<tool_call>{\"name\":\"fs__list\",\"arguments\":{}}</tool_call>", two, "First.\n\nThen."},
	"Hermes, opened again for closed": {"<tool_call>\n{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n<tool_call>\n{\"name\":\"fs__list\",\"arguments\":{}}\n<tool_call>", two, ""},
	"Hermes, two in one":              {"<tool_call>\n{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n{\"name\":\"fs__list\",\"arguments\":{}}\n</tool_call>", two, ""},
	"Hermes, a list":                  {`<tool_call>[{"name":"fs__read_file","arguments":{"path":"a.txt"}},{"name":"fs__list","arguments":{}}]</tool_call>`, two, ""},
	"Hermes, a fence inside":          {"<tool_call>\n```json\n{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}\n```\n</tool_call>", one, ""},
	"Hermes, end token":               {"<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call><|im_end|>\n", one, ""},
	"Hermes, closed twice":            {"<tool_call>{\"name\":\"fs__list\",\"arguments\":{}}</tool_call>\n</tool_call>", "fs__list{}", ""},
	"Hermes, markup in a text":        {`<tool_call>{"name":"fs__read_file","arguments":{"path":"</tool_call>\n<tool_call>{\"name\":\"rm\"}"}}</tool_call>`, `fs__read_file{"path":"</tool_call>\n<tool_call>{\"name\":\"rm\"}"}`, ""},
	"Hermes, raw markup in a text":    {"<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"\n<tool_call>{'name':'fs__list'}</tool_call>\n\"}}</tool_call>", `fs__read_file{"path":"\n<tool_call>{'name':'fs__list'}</tool_call>\n"}`, ""},
	"Hermes, OpenAI's form inside":    {`<tool_call>{"id":"c1","type":"function","function":{"name":"fs__read_file","arguments":"{\"path\":\"a.txt\"}"}}</tool_call>`, one, ""},
	"Hermes, unknown tool":            {`<tool_call>{"name":"get_weather","arguments":{}}</tool_call>`, `get_weather{}`, ""},
	"Hermes, Python inside":           {`<tool_call>fs__read_file(path="a.txt")</tool_call>`, one, ""},
	"behind a thought":                {"<think>\nI could do\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n</think>\n\n<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call>", one, "<think>\nI could do\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n</think>"},
	"behind a thought without begin":  {"Maybe:\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n</think>\n<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call>", one, "Maybe:\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n</think>"},
	"behind a fence":                  {"An example:\n```\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n```\n<tool_call>{\"name\":\"fs__read_file\",\"arguments\":{\"path\":\"a.txt\"}}</tool_call>", one, "An example:\n```\n<tool_call>{\"name\":\"fs__list\"}</tool_call>\n```"},
	"function_call":                   {`<function_call>{"name":"fs__read_file","arguments":{"path":"a.txt"}}</function_call>`, one, ""},
	"Glaive":                          {`<functioncall> {"name": "fs__read_file", "arguments": '{"path": "a.txt"}'} <|endoftext|>`, one, ""},
	"Nemotron":                        {`<TOOLCALL>[{"name": "fs__read_file", "arguments": {"path": "a.txt"}}]</TOOLCALL>`, one, ""},
	"tool_calls with a list":          {`<tool_calls>[{"name": "fs__read_file", "arguments": {"path": "a.txt"}}]</tool_calls>`, one, ""},
	"tool_calls with tool_call":       {"<tool_calls>\n<tool_call>{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}</tool_call>\n</tool_calls>", one, ""},

	"Llama, function":              {`<function=fs__read_file>{"path": "a.txt"}</function>`, one, ""},
	"Llama, function, end token":   {`<function=fs__read_file>{"path": "a.txt"}</function><|eom_id|>`, one, ""},
	"Llama, function, not closed":  {`<function=fs__read_file>{"path": "a.txt"}`, one, ""},
	"Llama, function, two":         {`<function=fs__read_file>{"path": "a.txt"}</function><function=fs__list>{}</function>`, two, ""},
	"Llama, python_tag":            {`<|python_tag|>{"type": "function", "name": "fs__read_file", "parameters": {"path": "a.txt"}}`, one, ""},
	"Llama, python_tag, two":       {`<|python_tag|>{"name": "fs__read_file", "parameters": {"path": "a.txt"}}; {"name": "fs__list", "parameters": {}}<|eom_id|>`, two, ""},
	"Llama, python_tag, Python":    {`<|python_tag|>fs.read_file(path="a.txt")`, one, ""},
	"Llama, bare":                  {`{"name": "fs__read_file", "parameters": {"path": "a.txt"}}`, one, ""},
	"Llama, bare, type":            {`{"type": "function", "function": "fs__read_file", "parameters": {"path": "a.txt"}}`, one, ""},
	"Llama, bare, bracket missing": {`{"name": "fs__read_file", "parameters": {"path": "a.txt"}`, one, ""},
	"Llama 4, Python list":         {`[fs__read_file(path="a.txt"), fs__list()]`, two, ""},
	"Llama 4, comma at the end":    {"[fs__read_file(path='a.txt',),]<|eot_id|>", one, ""},
	"Llama, bare, two":             {"{\"name\": \"fs__read_file\", \"parameters\": {\"path\": \"a.txt\"}}; {\"name\": \"fs__list\", \"parameters\": {}}", two, ""},
	"Magistral":                    {"[THINK]\n[TOOL_CALLS]fs__list{}\n[/THINK]\n[TOOL_CALLS]fs__read_file[ARGS]{\"path\": \"a.txt\"}", one, "[THINK]\n[TOOL_CALLS]fs__list{}\n[/THINK]"},

	"Mistral":                       {`[TOOL_CALLS][{"name": "fs__read_file", "arguments": {"path": "a.txt"}}]`, one, ""},
	"Mistral, blank, id, end token": {`[TOOL_CALLS] [{"name": "fs__read_file", "arguments": {"path": "a.txt"}, "id": "abcdefghi"}]</s>`, one, ""},
	"Mistral, two":                  {`[TOOL_CALLS][{"name": "fs__read_file", "arguments": {"path": "a.txt"}}, {"name": "fs__list", "arguments": {}}]`, two, ""},
	"Mistral, text before":          {"Let me see.[TOOL_CALLS][{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}]", one, "Let me see."},
	"Mistral, newer":                {`[TOOL_CALLS]fs__read_file[ARGS]{"path": "a.txt"}`, one, ""},
	"Mistral, newer, id":            {`[TOOL_CALLS]fs__read_file[CALL_ID]abcdefghi[ARGS]{"path": "a.txt"}</s>`, one, ""},
	"Mistral, newer, no separator":  {`[TOOL_CALLS]fs__read_file{"path": "a.txt"}`, one, ""},
	"Mistral, newer, two":           {`[TOOL_CALLS]fs__read_file[ARGS]{"path": "a.txt"}[TOOL_CALLS]fs__list[ARGS]{}`, two, ""},

	"DeepSeek V3":      {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs__read_file\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", one, ""},
	"DeepSeek V3, two": {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs__read_file\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>fs__list\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>", two, ""},
	"DeepSeek V3.1":    {"I'll look.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>fs__read_file<｜tool▁sep｜>{\"path\": \"a.txt\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", one, "I'll look."},
	"Kimi K2":          {"<|tool_calls_section_begin|><|tool_call_begin|>functions.fs__read_file:0<|tool_call_argument_begin|>{\"path\": \"a.txt\"}<|tool_call_end|><|tool_call_begin|>functions.fs__list:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", two, ""},

	"Qwen3-Coder":                    {"<tool_call>\n<function=fs__read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>", one, ""},
	"Qwen3-Coder, unwrapped":         {"I'll look.\n\n<function=fs__read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>", one, "I'll look."},
	"Qwen3-Coder, unknown tool":      {"<function=rm>\n<parameter=path>\na b\n</parameter>\n</function>", `rm{"path":"a b"}`, ""},
	"Qwen3-Coder, types":             {"<tool_call>\n<function=fs__read_file>\n<parameter=path>\n12\n</parameter>\n<parameter=lines>\n12\n</parameter>\n<parameter=all>True</parameter>\n<parameter=any>a b</parameter>\n</function>\n</tool_call>", `fs__read_file{"path":"12","lines":12,"all":true,"any":"a b"}`, ""},
	"Qwen3-Coder, many lines":        {"<tool_call>\n<function=fs__read_file>\n<parameter=path>\n\n a\n\"b\"\n\n</parameter>\n</function>\n</tool_call>", `fs__read_file{"path":"\n a\n\"b\"\n"}`, ""},
	"Qwen3-Coder, no parameters":     {"<tool_call>\n<function=fs__list>\n</function>\n</tool_call>", `fs__list{}`, ""},
	"Qwen3-Coder, two":               {"<tool_call>\n<function=fs__read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n<function=fs__list>\n</function>\n</tool_call>", two, ""},
	"Qwen3-Coder, function unclosed": {"<tool_call>\n<function=fs__read_file>\n<parameter=path>\na.txt\n</parameter>\n</tool_call>", one, ""},

	"GLM":                       {"<tool_call>fs__read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>", one, ""},
	"GLM, types":                {"<tool_call>fs__read_file\n<arg_key>lines</arg_key>\n<arg_value>12</arg_value>\n<arg_key>path</arg_key>\n<arg_value>12</arg_value>\n</tool_call>", `fs__read_file{"lines":12,"path":"12"}`, ""},
	"GLM, no parameters":        {"<tool_call>fs__list\n</tool_call>", `fs__list{}`, ""},
	"MiniMax":                   {"<minimax:tool_call>\n<invoke name=\"fs__read_file\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n<invoke name=\"fs__list\">\n</invoke>\n</minimax:tool_call>", two, ""},
	"invoke, wrapped otherwise": {"I'll look.\n\n<function_calls>\n<invoke name=\"fs__read_file\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>", one, "I'll look."},

	"Gemma 3, Python":     {"```tool_code\nfs__read_file(path=\"a.txt\")\n```", one, ""},
	"Gemma 3, JSON":       {"```json\n{\"name\": \"fs__read_file\", \"parameters\": {\"path\": \"a.txt\"}}\n```", one, ""},
	"tool_call fence":     {"Now:\n```tool_call\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n```", one, "Now:"},
	"plain fence":         {"```\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n```\n", one, ""},
	"json fence, a list":  {"```json\n[{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}, {\"name\":\"fs__list\",\"arguments\":{}}]\n```", two, ""},
	"bare tool_calls":     {`{"tool_calls":[{"id":"c","type":"function","function":{"name":"fs__read_file","arguments":"{\"path\":\"a.txt\"}"}}]}`, one, ""},
	"bare behind thought": {"<think>I need the file.</think>\n{\"name\": \"fs__read_file\", \"arguments\": {\"path\": \"a.txt\"}}", one, ""},

	"Phi-4-mini":        {`<|tool_call|>[{"name":"fs__read_file","arguments":{"path":"a.txt"}}]<|/tool_call|>`, one, ""},
	"Phi-4":             {`functools[{"name": "fs__read_file", "arguments": {"path": "a.txt"}}]`, one, ""},
	"Granite":           {`<|tool_call|>[{"name":"fs__read_file","arguments":{"path":"a.txt"}}]<|end_of_text|>`, one, ""},
	"Command R7B":       {"<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"fs__read_file\", \"parameters\": {\"path\": \"a.txt\"}}\n]<|END_ACTION|>", one, ""},
	"LFM2":              {`<|tool_call_start|>[fs__read_file(path="a.txt")]<|tool_call_end|>`, one, ""},
	"gpt-oss":           {"<|channel|>commentary to=functions.fs__read_file <|constrain|>json<|message|>{\"path\":\"a.txt\"}<|call|>", one, ""},
	"gpt-oss, thoughts": {"<|channel|>analysis<|message|>Perhaps\n<tool_call>{\"name\":\"fs__list\"}</tool_call><|end|><|start|>assistant<|channel|>commentary to=functions.fs__read_file<|message|>{\"path\":\"a.txt\"}", one, "Perhaps\n<tool_call>{\"name\":\"fs__list\"}</tool_call>"},
	"gpt-oss, to first": {"<|start|>assistant to=functions.fs__read_file<|channel|>commentary json<|message|>{\"path\":\"a.txt\"}<|call|>", one, ""},
	"gpt-oss, bare":     {"commentary to=functions.fs__read_file json{\"path\":\"a.txt\"}", one, ""},
}

func TestFormats(t *testing.T) {
	for name, c := range formats {
		t.Run(name, func(t *testing.T) {
			got := Read(Step{Text: c.text, Tools: offered})
			if shown(got.Calls) != c.calls || got.Text != c.rest || len(got.Problems) > 0 {
				t.Errorf("got %s, text %q, problems %q", shown(got.Calls), got.Text, got.Problems)
			}
			if !slices.Contains(got.Repaired, "call written as text") {
				t.Errorf("repaired is %q", got.Repaired)
			}
		})
	}
}
