package toolcall

import (
	"strings"
	"testing"
)

// TestNoCall: what may be talk about calls is none, and no problem.
func TestNoCall(t *testing.T) {
	const example = `{"name": "fs__list", "arguments": {}}`
	for name, text := range map[string]string{
		"prose":                              "A pipe joins two programs.",
		"empty":                              "",
		"blanks":                             " \n ",
		"markup":                             "a < b && c > d <t> <|x|> [TOOL] `<tool_call>`",
		"code span":                          "Write `<tool_call>" + example + "</tool_call>`",
		"code span, two backticks":           "Write ``<tool_call>" + example + "</tool_call>``",
		"fence":                              "So:\n```\n<tool_call>" + example + "</tool_call>\n```",
		"fence, labelled":                    "```xml\n<tool_call>" + example + "</tool_call>\n```",
		"fence, long":                        "````\n```\n<tool_call>" + example + "</tool_call>\n````",
		"fence of tildes":                    "~~~\n```\n<tool_call>" + example + "</tool_call>\n~~~",
		"fence, not closed":                  "So:\n```\n<tool_call>" + example + "</tool_call>",
		"json fence behind prose":            "Here it is:\n```json\n" + example + "\n```",
		"json fence before prose":            "```json\n" + example + "\n```\nThat is how it looks.",
		"python fence":                       "```python\nfs__list()\n```",
		"amid a sentence":                    "The form is <tool_call>" + example + "</tool_call> for all models.",
		"amid a sentence, unknown tool":      `The form is <tool_call>{"name": "x", "arguments": {}}</tool_call>`,
		"amid a sentence, no JSON":           "Qwen puts <tool_call> tags around it",
		"amid a sentence, a template":        `It is <tool_call>{"name": <name>, "arguments": <args>}</tool_call>`,
		"a tag that begins a line":           "<tool_call> is what Qwen writes.",
		"python_tag that begins a line":      "<|python_tag|> is what Llama writes.",
		"TOOL_CALLS that begins a line":      "[TOOL_CALLS] is what Mistral writes.",
		"function= that begins a line":       "<function=name> is what Llama writes.",
		"a stray closing tag":                "</tool_call> closes it.",
		"an object in prose":                 "Use " + example + " to list.",
		"an object before prose":             example + " lists.",
		"an object behind prose":             "So: " + example,
		"two objects, one no call":           example + "\n{}",
		"two objects, prose behind":          example + "\n" + example + " list",
		"Python without brackets":            `fs__list()`,
		"Python without brackets, arguments": `fs__read_file(path="a")`,
		"a thought of another kind":          "<thinking>\n<tool_call>" + example + "</tool_call>\n</thinking>\nNo.",
		"an example indented, prose behind":  "So:\n\n    <tool_call>" + example + "</tool_call>\n\nThat is it.",
		"an object of another kind":          `{"name": "Ada", "born": 1815}`,
		"an unknown name":                    `{"name": "Ada", "arguments": {}}`,
		"a name without arguments":           `{"name": "fs__list"}`,
		"a member more":                      `{"name": "fs__list", "arguments": {}, "note": "x"}`,
		"arguments that are none":            `{"name": "fs__list", "arguments": [1]}`,
		"one of two unknown":                 `[` + example + `, {"name": "Ada", "arguments": {}}]`,
		"one of two no call":                 `[` + example + `, 1]`,
		"an empty list":                      `[]`,
		"no calls":                           `{"tool_calls": []}`,
		"a tool's schema":                    `{"name": "fs__list", "parameters": {"type": "object", "properties": {}}}`,
		"a tool's description":               `{"type":"function","function":{"name":"fs__list","description":"lists","parameters":{"type":"object","properties":{}}}}`,
		"a number":                           `12`,
		"broken JSON":                        `{"name": "Ada", "arguments": {"x": }}`,
		"markup in broken JSON":              "{\"doc\": \"\n<tool_call>" + example + "</tool_call>",
		"markup in JSON":                     "{\"doc\": \"\n<tool_call>" + strings.ReplaceAll(example, `"`, `\"`) + "</tool_call>\n\"}",
		"Python, unknown":                    `print(x=1)`,
		"Python, positional":                 `fs__list(1)`,
		"Python, an expression":              `fs__read_file(path="a" + b)`,
		"Python, prose behind":               "fs__list() lists (all)",
		"a thought only":                     "<think>\n<tool_call>" + example + "</tool_call>\n</think>\nNo.",
		"a thought without begin":            "\n<tool_call>" + example + "</tool_call>\n</think>\nNo.",
		"a thought without end":              "<think>\n<tool_call>" + example + "</tool_call>",
		"bare in a thought":                  "<think>" + example,
		"gpt-oss, final":                     "<|channel|>final<|message|>All is well.",
		"gpt-oss, analysis":                  "<|channel|>analysis<|message|>\n<tool_call>" + example + "</tool_call>",
		"gpt-oss, bare, words":               `commentary to=fs__list json and more {}`,
		"gpt-oss, bare, another type":        `commentary to=fs__list yaml{}`,
		"gpt-oss, bare, no JSON":             `commentary to=fs__list`,
		"gpt-oss, bare, prose":               `to=fs__list json{} lists`,
		"gpt-oss, bare, unknown":             `commentary to=functions.x json{}`,
		"behind broken markup in a phrase":   `Like <tool_call>{"name": "x, "arguments": "` + "\n<tool_call>" + example + "</tool_call>",
	} {
		t.Run(name, func(t *testing.T) {
			got := Read(Step{Text: text, Tools: offered})
			if len(got.Calls)+len(got.Problems)+len(got.Repaired) > 0 || got.Text != text {
				t.Errorf("got %s, text %q, problems %q, repaired %q", shown(got.Calls), got.Text, got.Problems, got.Repaired)
			}
		})
	}
	if got := Read(Step{Text: "<tool_call>" + example + "</tool_call>"}); len(got.Calls)+len(got.Problems) > 0 {
		t.Errorf("without tools: got %s, problems %q", shown(got.Calls), got.Problems)
	}
}

// TestAsked: where a call was announced or is likely but can't be made, the model is asked, and what
// was clear before is kept.
func TestAsked(t *testing.T) {
	const example = `{"name": "fs__list", "arguments": {}}`
	for name, c := range map[string]struct{ text, problem, calls string }{
		"quotes in a text":               {`<tool_call>{"name": "fs__list", "arguments": {"a": "say "hi""}}</tool_call>`, "comma", ""},
		"text not closed":                {`<tool_call>{"name": "fs__list", "arguments": {"a": "x}}</tool_call>`, "not closed", ""},
		"no call inside":                 {"<tool_call>\nlist the files\n</tool_call>", "no call", ""},
		"nothing inside":                 {"<tool_call></tool_call>", "no call", ""},
		"no name":                        {`<tool_call>{"arguments": {}}</tool_call>`, "no name", ""},
		"an empty name":                  {`<tool_call>{"name": "", "arguments": {}}</tool_call>`, "without a name", ""},
		"a name that is no text":         {`<tool_call>{"name": 1, "arguments": {}}</tool_call>`, "not a text", ""},
		"two names":                      {`<tool_call>{"name": "fs__list", "tool": "fs__list", "arguments": {}}</tool_call>`, "more than one name", ""},
		"arguments twice":                {`<tool_call>{"name": "fs__list", "arguments": {}, "parameters": {}}</tool_call>`, "arguments twice", ""},
		"arguments beside":               {`<tool_call>{"name": "fs__list", "path": "x"}</tool_call>`, "“path” beside", ""},
		"arguments are a list":           {`<tool_call>{"name": "fs__list", "arguments": ["x"]}</tool_call>`, "not a JSON object", ""},
		"arguments broken in a string":   {`<tool_call>{"name": "fs__list", "arguments": "{\"a\":"}</tool_call>`, "value is missing", ""},
		"a schema":                       {`<tool_call>{"name": "fs__list", "parameters": {"type": "object", "properties": {}}}</tool_call>`, "schema", ""},
		"prose inside":                   {`<tool_call>` + example + ` then more </tool_call>`, "more text", ""},
		"prose behind":                   {"<tool_call>" + example + "</tool_call>\nThat lists the files.", "more text follows", ""},
		"a made-up result behind":        {"<tool_call>" + example + "</tool_call>\n<tool_response>\na.txt\n</tool_response>", "more text follows", ""},
		"a thought behind":               {"<tool_call>" + example + "</tool_call>\n<think>Done.</think>", "more text follows", ""},
		"end of a sentence":              {"The form is <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"an example, indented":           {"So:\n\n    <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"an item of a list":              {"1. <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"behind a colon":                 {"An example: <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"an example behind a tab":        {"So:\n\n\t<tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"many parameters":                {"<function=fs__list>" + strings.Repeat("\n<parameter=a>x</parameter>", 300) + "</function>", "too many parameters", ""},
		"parameter of no tool":           {"<function=rm>\n<parameter=a>\n10\n</parameter>\n</function>", "doesn't say whether", ""},
		"DeepSeek, no name":              {"<｜tool▁call▁begin｜>a b<｜tool▁sep｜>{}<｜tool▁call▁end｜>", "no name", ""},
		"DeepSeek, two names":            {"<｜tool▁call▁begin｜>fs__list<｜tool▁sep｜>fs__read_file{}<｜tool▁call▁end｜>", "no name", ""},
		"Python, twice":                  {"<tool_call>fs__list(a=1, a=1)</tool_call>", "given twice", ""},
		"quoted":                         {"> <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"behind a token amid a sentence": {"It ends with </tool_call> <tool_call>" + example + "</tool_call>", "amid a sentence", ""},
		"several tools":                  {`<tool_call>{"name": "list", "arguments": {}}</tool_call>`, "several tools", ""},
		"a good one before":              {"<tool_call>" + example + "</tool_call>\n<tool_call>{broken</tool_call>", "colon", "fs__list{}"},
		"a good one behind":              {"<tool_call>{broken</tool_call>\n<tool_call>" + example + "</tool_call>", "colon", ""},
		"bare, broken":                   {`{"name": "fs__list", "arguments": {"a": "say "hi""}}`, "comma", ""},
		"bare list, broken":              {`[{"name": "fs__list", "arguments": {"a": "say "hi""}}]`, "comma", ""},
		"function, broken":               {`<function=fs__list>{"a": "say "hi""}</function>`, "comma", ""},
		"function, no JSON":              {`<function=fs__list>all files</function>`, "needs a JSON object inside", ""},
		"function, a list":               {`<function=fs__list>["x"]</function>`, "needs a JSON object inside", ""},
		"function, name not closed":      {`<function=fs__list{"a":1}</function>`, "not closed", ""},
		"parameter, wrong type":          {"<function=fs__read_file>\n<parameter=lines>\nten\n</parameter>\n</function>", "not of the type", ""},
		"parameter, no type":             {"<function=fs__read_file>\n<parameter=any>\n10\n</parameter>\n</function>", "doesn't say whether", ""},
		"parameter, not closed":          {"<function=fs__read_file>\n<parameter=path>\na.txt\n</function>", "not closed", ""},
		"GLM, value missing":             {"<tool_call>fs__list\n<arg_key>path</arg_key>\n</tool_call>", "not closed", ""},
		"a name that is no tool's":       {"<tool_call>name</tool_call>", "no call", ""},
		"invoke, attributes":             {"<invoke name=\"fs__list\"><parameter name=\"a\" x=\"b\">1</parameter></invoke>", "no name", ""},
		"parameter, twice":               {"<function=fs__read_file>\n<parameter=path>\na\n</parameter>\n<parameter=path>\nb\n</parameter>\n</function>", "twice", ""},
		"python_tag, code":               {"<|python_tag|>fs__list(\"/tmp\" + name)", "arguments need names", ""},
		"Gemma, code":                    {"```tool_code\nprint(fs__list())\n```", "arguments need names", ""},
		"Gemma 4":                        {"<|tool_call>call:fs__list{path:<|\"|>x<|\"|>}<tool_call|>", "no call", ""},
		"Mistral, broken":                {`[TOOL_CALLS][{"name": "fs__list", "arguments": {"a": }}]`, "value is missing", ""},
		"Mistral, prose behind":          {"[TOOL_CALLS]fs__list[ARGS]{} and so on", "more text follows", ""},
		"DeepSeek, no JSON":              {"<｜tool▁call▁begin｜>function<｜tool▁sep｜>fs__list<｜tool▁call▁end｜>", "JSON object is missing", ""},
		"gpt-oss, bare, broken":          {`commentary to=functions.fs__list json{"a": "say "hi""}`, "comma", ""},
		"gpt-oss, code":                  {"<|channel|>commentary to=python<|message|>print(1)<|call|>", "text without quotes", ""},
		"tool_call fence, prose":         {"```tool_call\nlist files\n```", "no call", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Read(Step{Text: c.text, Tools: offered})
			if shown(got.Calls) != c.calls || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], c.problem) {
				t.Errorf("got %s, problems %q; want one with %q", shown(got.Calls), got.Problems, c.problem)
			}
			if c.calls == "" && got.Text != c.text {
				t.Errorf("the text became %q", got.Text)
			}
		})
	}
}
