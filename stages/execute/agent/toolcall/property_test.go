package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/wire"
)

// holds checks what is true of every reading.
func holds(t *testing.T, step Step, got Reading) {
	t.Helper()
	ids := map[string]bool{}
	for _, c := range got.Calls {
		if ids[c.ID] || c.ID == "" || c.Function == "" {
			t.Errorf("the call %+v has no name or an id that another has", c)
		}
		ids[c.ID] = true
		if !json.Valid([]byte(c.Arguments)) || c.Arguments[0] != '{' || strings.ContainsAny(c.Arguments, "\n\r\x7f\u0085\u2028\u2029") {
			t.Errorf("the arguments %q are no JSON object in one line", c.Arguments)
		}
		again, fixes, f := readArguments(c.Arguments, true)
		if f != nil || again != c.Arguments || fixes&^fixEmpty != 0 {
			t.Errorf("the arguments %q are not read as they are: %q, %v", c.Arguments, again, f)
		}
	}
	for _, p := range got.Problems {
		if len(p) >= 600 || !utf8.ValidString(p) || strings.ContainsAny(p, "\n\x00") {
			t.Errorf("the problem %q is long, no UTF-8 or not in one line", p)
		}
	}
	if len(got.Calls) > MaxCalls || len(got.Problems) > maxProblems+2 {
		t.Errorf("%d calls, %d problems", len(got.Calls), len(got.Problems))
	}
	if got.Text != step.Text && (len(got.Calls) == 0 || len(got.Text) >= len(step.Text)) {
		t.Errorf("the text %q became %q", step.Text, got.Text)
	}
	if !reflect.DeepEqual(got, Read(step)) {
		t.Error("the same step is read in two ways")
	}
}

// value decodes a JSON object; ok is false where it is none, or says one thing in two ways.
func value(text string) (v any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return nil, false
	}
	_, err := decoder.Token()
	_, object := v.(map[string]any)
	return v, object && err == io.EOF && members(v) == strings.Count(compact(text), ":")
}

// members counts the members of all objects in v, and the colons in its texts.
func members(v any) (count int) {
	switch v := v.(type) {
	case map[string]any:
		for key, each := range v {
			count += 1 + strings.Count(key, ":") + members(each)
		}
	case []any:
		for _, each := range v {
			count += members(each)
		}
	case string:
		count = strings.Count(v, ":")
	}
	return count
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return ""
	}
	return b.String()
}

// FuzzArguments: whatever a server makes out is read without harm, and a valid JSON object keeps its
// value.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"a":[1,2,],'b':None} // x`, "```json\n{\"a\":\"b\"}\n```", `"{\"a\":1}"`, `{"a":{"b":1`, `{"a":1,"a":1}`,
		`{"\ud83d\ude00":"\u0000\u2028"}`, `{a:"x` + "\n" + `y"}}]`, `{"a":1.0e+5,"b":-0}`, "{\"a\":\"\xff\"}", `{"a" /* x */ : true}`,
	} {
		f.Add(seed, false)
	}
	f.Add(`{"a":1`, true)
	f.Fuzz(func(t *testing.T, args string, cut bool) {
		step := Step{Calls: []wire.ToolCall{{ID: "i", Function: "f", Arguments: args}}, Cut: cut}
		got := Read(step)
		holds(t, step, got)
		if len(got.Calls)+len(got.Problems) != 1 {
			t.Fatalf("got %+v", got)
		}
		want, ok := value(args)
		if !ok || wire.TooDeep([]byte(args)) {
			return
		}
		if len(got.Calls) == 0 {
			t.Fatalf("%q is valid and was refused: %q", args, got.Problems)
		}
		if v, _ := value(got.Calls[0].Arguments); !reflect.DeepEqual(v, want) || len(got.Repaired) != 0 {
			t.Fatalf("%q became %q, repaired %q", args, got.Calls[0].Arguments, got.Repaired)
		}
	})
}

// FuzzText: no text does harm; a code fence around it makes it text; prose behind it makes its calls
// doubtful.
func FuzzText(f *testing.F) {
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		f.Add(formats[name].text, false)
	}
	f.Add("a<tool_call>{\"name\":\"fs__list\"}</tool_call>b", true)
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		step := Step{Text: text, Tools: offered, Cut: cut}
		got := Read(step)
		holds(t, step, got)
		if fenced := "So:\n````\n" + text + "\n````"; !strings.Contains(text, "````") {
			if got := Read(Step{Text: fenced, Tools: offered, Cut: cut}); len(got.Calls)+len(got.Problems) > 0 {
				t.Errorf("in a fence: got %s, problems %q", shown(got.Calls), got.Problems)
			}
		}
		if got := Read(Step{Text: text + "\nand so on", Tools: offered, Cut: cut}); len(got.Calls) > 0 && len(got.Problems) == 0 {
			t.Errorf("before prose: got %s", shown(got.Calls))
		}
	})
}

// TestPrefixes: an answer that is cut anywhere never holds a call that the whole answer doesn't.
func TestPrefixes(t *testing.T) {
	for name, c := range formats {
		whole := Read(Step{Text: c.text, Tools: offered}).Calls
		if strings.Contains(c.text, "</think>") && !strings.Contains(c.text, "<think>") {
			continue // only its end tells that the beginning is a thought
		}
		for end := range c.text {
			got := Read(Step{Text: c.text[:end], Tools: offered, Cut: true})
			if len(got.Calls) > len(whole) {
				t.Errorf("%s: %q holds %s", name, c.text[:end], shown(got.Calls))
				continue
			}
			for i, each := range got.Calls {
				if each.Function != whole[i].Function || each.Arguments != whole[i].Arguments {
					t.Errorf("%s: %q holds %s", name, c.text[:end], shown(got.Calls))
				}
			}
		}
	}
}

// TestArgumentPrefixes: the same for what a server makes out, whatever was to follow.
func TestArgumentPrefixes(t *testing.T) {
	const args = `{"path":"a\n\"b\"","list":[1,23,{"x":true}],"n":12.5e3,"deep":{"a":{"b":null}}}`
	for end := range args {
		if got, _, f := readArguments(args[:end], true); f == nil {
			t.Errorf("%q was read as %s", args[:end], got)
		}
	}
}

// TestManyMembers: members are compared in large objects, too.
func TestManyMembers(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, `"k%d":%d,`, i, i)
	}
	members := strings.TrimSuffix(text.String(), ",")
	if got, _, f := readArguments("{"+members+"}", false); f != nil || got != "{"+members+"}" {
		t.Errorf("got %s, %v", got, f)
	}
	if got, fixes, f := readArguments("{"+members+","+members+"}", false); f != nil || got != "{"+members+"}" || fixes&fixTwice == 0 {
		t.Errorf("twice the same: got %s, %v", got, f)
	}
	if _, _, f := readArguments("{"+members+`,"k500":1}`, false); f == nil {
		t.Error("twice, not the same: no fault")
	}
}
