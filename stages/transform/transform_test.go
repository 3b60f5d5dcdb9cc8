package transform

import (
	"fmt"
	"reflect"
	"testing"

	"sluice/internal/wire"
)

// content and reasoning make tokens, marked plain where a source would.
func content(raw ...string) *wire.Tokens   { return batch(wire.TokenContent, raw) }
func reasoning(raw ...string) *wire.Tokens { return batch(wire.TokenReasoning, raw) }

func batch(kind wire.TokenKind, raw []string) *wire.Tokens {
	b := &wire.Tokens{}
	for _, r := range raw {
		b.Items = append(b.Items, wire.Token{Kind: kind, Raw: []byte(r), Plain: wire.IsPlain([]byte(r))})
	}
	return b
}

// shown writes events down: c for content, r for reasoning, the offset, the text.
func shown(events *wire.Events) (list []string) {
	for _, e := range events.Items {
		kind := map[wire.EventKind]string{wire.EventChunk: "c", wire.EventReasoning: "r"}[e.Kind]
		list = append(list, fmt.Sprintf("%s%d %s", kind, e.Offset, e.Text))
	}
	return list
}

func TestTexts(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		batches []*wire.Tokens
		// want are the events of each batch, then those of the end.
		want     [][]string
		response string
	}{
		"nothing": {Options{}, nil, [][]string{nil}, ""},
		"plain":   {Options{}, []*wire.Tokens{content("a", "b"), content(" c")}, [][]string{{"c0 a", "c1 b"}, {"c2  c"}, nil}, "ab c"},
		"empty":   {Options{}, []*wire.Tokens{content("", "a", ""), content("b")}, [][]string{{"c0 a"}, {"c1 b"}, nil}, "ab"},
		"escapes": {Options{}, []*wire.Tokens{content(`\n\"\\`, `\/\u0041`, `b`)}, [][]string{{`c0 \n\"\\`, `c3 /A`, `c5 b`}, nil}, `\n\"\\/Ab`},
		"bytes of a character in two tokens": {Options{}, []*wire.Tokens{content("x\xe2\x82", "\xac", "y")},
			[][]string{{"c0 x", "c1 €", "c4 y"}, nil}, "x€y"},
		"bytes of a character in four batches": {Options{}, []*wire.Tokens{content("\xf0"), content("\x9f"), content("\x98"), content("\x80!")},
			[][]string{nil, nil, nil, {"c0 😀!"}, nil}, "😀!"},
		"a pair of escapes in two batches": {Options{}, []*wire.Tokens{content(`x\ud83d`), content(`\ude00y`)},
			[][]string{{"c0 x"}, {"c1 😀y"}, nil}, "x😀y"},
		"half a pair, then something else": {Options{}, []*wire.Tokens{content(`\ud83d`), content(`\ud83d`, `z`)},
			[][]string{nil, {"c0 \ufffd", "c3 \ufffdz"}, nil}, "\ufffd\ufffdz"},
		"half a character, then something else": {Options{}, []*wire.Tokens{content("\xe2\x82"), content("a")},
			[][]string{nil, {"c0 \ufffd\ufffda"}, nil}, "\ufffd\ufffda"},
		"an unfinished character at the end": {Options{}, []*wire.Tokens{content("a\xe2\x82")}, [][]string{{"c0 a"}, {"c1 \ufffd\ufffd"}}, "a\ufffd\ufffd"},
		"an unfinished pair at the end":      {Options{}, []*wire.Tokens{content(`a\ud83d`)}, [][]string{{"c0 a"}, {"c1 \ufffd"}}, "a\ufffd"},
		"an empty token amid a character":    {Options{}, []*wire.Tokens{content("\xc3", "", "\xa9")}, [][]string{{"c0 é"}, nil}, "é"},
		"what must not stand raw":            {Options{}, []*wire.Tokens{content("\u2028", "\u0085\x7f", "x")}, [][]string{{`c0 \u2028`, `c3 \u0085\u007f`, `c6 x`}, nil}, `\u2028\u0085\u007fx`},
		"offsets count bytes, not escapes":   {Options{ASCII: true}, []*wire.Tokens{content("é😀", "x")}, [][]string{{`c0 \u00e9\ud83d\ude00`, `c6 x`}, nil}, `\u00e9\ud83d\ude00x`},
		"reasoning is left out":              {Options{}, []*wire.Tokens{reasoning("hm", "\xc3"), content("a")}, [][]string{nil, {"c0 a"}, nil}, "a"},
		"reasoning":                          {Options{Reasoning: true}, []*wire.Tokens{reasoning("h", "m"), content("a")}, [][]string{{"r0 h", "r1 m"}, {"c0 a"}, nil}, "a"},
		"characters split in both texts":     {Options{Reasoning: true}, []*wire.Tokens{reasoning("\xc3"), content("\xc3"), reasoning("\xa9"), content("\xa8")}, [][]string{nil, nil, {"r0 é"}, {"c0 è"}, nil}, "è"},
		"both texts unfinished at the end":   {Options{Reasoning: true}, []*wire.Tokens{reasoning("\xc3"), content("\xc3")}, [][]string{nil, nil, {"r0 \ufffd", "c0 \ufffd"}}, "\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			step := New(c.options)
			var got [][]string
			for _, b := range c.batches {
				got = append(got, shown(step.Apply(b)))
			}
			got = append(got, shown(step.Flush()))
			if !reflect.DeepEqual(got, c.want) || string(step.Response()) != c.response {
				t.Errorf("got %q, response %q", got, step.Response())
			}
			if again := step.Flush(); len(again.Items) > 0 {
				t.Errorf("a second end brought %q", shown(again))
			}
		})
	}
}

func TestFacts(t *testing.T) {
	step := New(Options{Step: 3})
	first := &wire.Usage{PromptTokens: 1}
	last := &wire.Usage{PromptTokens: 5, CompletionTokens: 2}
	b := content("a")
	b.Usage = first
	if e := step.Apply(b).Items[0]; e.Step != 3 {
		t.Errorf("the event is of step %d", e.Step)
	}
	step.Apply(reasoning("b", "c"))
	step.Apply(&wire.Tokens{Finish: "length", Usage: last})
	step.Apply(&wire.Tokens{Progress: &wire.PromptProgress{Total: 1}})
	step.Flush()
	if step.Finish() != "length" || step.Usage() != last {
		t.Errorf("got %q, %v", step.Finish(), step.Usage())
	}
}

// TestTextsOutliveTheirTokens changes the tokens after each batch, as the source does: the response
// holds copies, and growing leaves the earlier events whole.
func TestTextsOutliveTheirTokens(t *testing.T) {
	step := New(Options{})
	var texts [][]byte
	for i := range 1000 {
		b := content(fmt.Sprintf("%d\xc3", i), "\xa9")
		for _, e := range step.Apply(b).Items {
			texts = append(texts, e.Text)
		}
		for _, token := range b.Items {
			clear(token.Raw)
		}
	}
	var got, want string
	for i, text := range texts {
		got += string(text)
		if i%2 == 0 {
			want += fmt.Sprint(i/2) + "é"
		}
	}
	if got != want || string(step.Response()) != want {
		t.Errorf("got %.60q, response %.60q", got, step.Response())
	}
}

// TestEventsAllocateNothing streams a long text; only the response grows, now and then.
func TestEventsAllocateNothing(t *testing.T) {
	for name, b := range map[string]*wire.Tokens{
		"plain":   content("Why", " streams", ",", " pipes", " and", " engines", " end", "."),
		"escaped": content(`\n`, "é", "\xe2\x82", "\xac", `\ud83d`, `\ude00`, "\u2028", `\"`),
	} {
		step := New(Options{})
		const runs = 20000
		total := testing.AllocsPerRun(1, func() {
			for range runs {
				step.Apply(b)
			}
		})
		if each := total / float64(runs*len(b.Items)); each >= 0.01 {
			t.Errorf("%s: %v allocations an event", name, each)
		}
	}
}
