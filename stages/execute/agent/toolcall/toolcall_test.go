package toolcall

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// offered are the tools of most tests.
var offered = []wire.Tool{
	{Name: "fs/read_file", Function: "fs__read_file", Schema: `{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"},"all":{"type":"boolean"},"any":{}},"required":["path"]}`},
	{Name: "fs/list", Function: "fs__list", Schema: `{"type":"object"}`},
	{Name: "web/list", Function: "web__list", Schema: `{"type":"object"}`},
	{Name: "web/Fetch-URL", Function: "web__Fetch-URL", Schema: `{"type":"object","properties":{"url":{"type":"string"}}}`},
}

// shown writes calls down: function, arguments.
func shown(calls []Call) string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Function+c.Arguments)
	}
	return strings.Join(list, " ")
}

// TestDepth: 512 levels are read, 513 are not.
func TestDepth(t *testing.T) {
	for depth, problems := range map[int]int{wire.MaxDepth: 0, wire.MaxDepth + 1: 1} {
		args := strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
		if wire.TooDeep([]byte(args)) != (problems > 0) {
			t.Fatal("the test's own text is wrong")
		}
		if got := Read(Step{Calls: []wire.ToolCall{{Function: "f", Arguments: args}}}); len(got.Problems) != problems {
			t.Errorf("%d levels: %q", depth, got.Problems)
		}
	}
}

// TestCut: what the token limit cut is never completed.
func TestCut(t *testing.T) {
	for _, args := range []string{"", `{"a":1`, `{"a":[1,2]`, `{"a":"b"`, `{"a":{"b":true}`, `{"a":"b`, `{`} {
		got := Read(Step{Calls: []wire.ToolCall{{Function: "fs__list", Arguments: args}}, Tools: offered, Cut: true})
		if len(got.Calls) != 0 || len(got.Problems) != 1 {
			t.Errorf("%q: got %s, problems %q", args, shown(got.Calls), got.Problems)
		}
	}
	for _, text := range []string{
		`<tool_call>{"name":"fs__list","arguments":{"a":1}`,
		`<tool_call>{"name":"fs__list","arguments":{"a":"b`,
		`{"name":"fs__list","arguments":{"a":1}`,
		`{"name":"fs__list","arguments":{"a":"b`,
		`[TOOL_CALLS][{"name":"fs__list","arguments":{"a":1}}`,
		`[TOOL_CALLS]fs__list[ARGS]{"a":1`,
		`<function=fs__list>{"a":1`,
		`<|python_tag|>fs__list(a=1`,
	} {
		got := Read(Step{Text: text, Tools: offered, Cut: true})
		if len(got.Calls) != 0 || len(got.Problems) != 1 || got.Text != text {
			t.Errorf("%q: got %s, problems %q", text, shown(got.Calls), got.Problems)
		}
	}
	whole := Read(Step{Text: `<tool_call>{"name":"fs__list","arguments":{"a":1}}`, Tools: offered, Cut: true})
	if shown(whole.Calls) != `fs__list{"a":1}` || len(whole.Problems) != 0 {
		t.Errorf("a whole call without its closing tag: got %s, problems %q", shown(whole.Calls), whole.Problems)
	}
}

func TestIDs(t *testing.T) {
	served := []wire.ToolCall{{ID: "a", Function: "f"}, {ID: "a", Function: "f"}, {Function: "f"}, {Function: "f"}, {ID: "b\xff", Function: "f"}}
	got := Read(Step{Calls: served, Seed: "1"})
	if len(got.Calls) != 5 || got.Calls[0].ID != "a" {
		t.Fatalf("got %+v", got.Calls)
	}
	seen := map[string]bool{}
	form := regexp.MustCompile(`^[a-z0-9]{9}$`)
	for i, c := range got.Calls {
		if seen[c.ID] || i > 0 && !form.MatchString(c.ID) {
			t.Errorf("call %d has the id %q", i, c.ID)
		}
		seen[c.ID] = true
	}
	if other := Read(Step{Calls: served, Seed: "2"}); other.Calls[2].ID == got.Calls[2].ID {
		t.Error("two steps made the same id")
	}
	if again := Read(Step{Calls: served, Seed: "1"}); again.Calls[2].ID != got.Calls[2].ID {
		t.Error("the same step made another id")
	}
}

func TestLimits(t *testing.T) {
	var calls []wire.ToolCall
	var text strings.Builder
	for i := range 100 {
		args := fmt.Sprintf(`{"n":%d}`, i)
		calls = append(calls, wire.ToolCall{Function: "fs__list", Arguments: args})
		text.WriteString("<tool_call>{\"name\":\"fs__list\",\"arguments\":" + args + "}</tool_call>\n")
	}
	for name, step := range map[string]Step{"served": {Calls: calls, Tools: offered}, "text": {Text: text.String(), Tools: offered}} {
		got := Read(step)
		if len(got.Calls) != MaxCalls || got.Calls[63].Arguments != `{"n":63}` || len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0], "36 calls") {
			t.Errorf("%s: %d calls, problems %q", name, len(got.Calls), got.Problems)
		}
	}
	for i := range calls {
		calls[i].Arguments = "{" + strings.Repeat("x ", 10000)
	}
	got := Read(Step{Calls: calls, Tools: offered})
	if len(got.Problems) != maxProblems+1 || !strings.HasPrefix(got.Problems[maxProblems], "92 more") {
		t.Errorf("problems %q", got.Problems)
	}
}

func TestReprompt(t *testing.T) {
	step := Read(Step{Calls: []wire.ToolCall{{Function: "fs__list", Arguments: `{"a":`}, {Function: "list"}}, Tools: offered})
	got := Reprompt(step.Problems)
	for _, want := range []string{"fs__list", "a value is missing", "double quotes", "several tools", "Make these calls again"} {
		if !strings.Contains(got, want) {
			t.Errorf("the message lacks %q: %s", want, got)
		}
	}
}
