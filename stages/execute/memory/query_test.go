package memory

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPlans: what each search asks is answered from an index, never by reading a whole table.
func TestPlans(t *testing.T) {
	s, _ := built(t)
	x := open(t, Options{Dir: s.dir})
	find(t, x, "ada", "two", "needle")
	for _, c := range []struct {
		name  string
		db    row
		query string
		args  []any
		want  []string
	}{
		{"user", x.store.read, userQuery, []any{"ada"}, []string{"SEARCH users USING COVERING INDEX"}},
		{"position", x.store.read, positionQuery, nil, []string{"SEARCH meta USING PRIMARY KEY"}},
		{"count", x.store.read, countQuery, []any{`"1:a"`, 0, 9}, []string{"SCAN words VIRTUAL TABLE INDEX"}},
		{"turns", x.store.read, turnsQuery, []any{`"1:a"`, 0, 1, "two", 9}, []string{"SCAN words VIRTUAL TABLE INDEX", "SEARCH docs USING INTEGER PRIMARY KEY"}},
		{"stored", x.store.read, storedQuery, []any{1, 9}, []string{"SEARCH docs USING COVERING INDEX docs_user"}},
		{"window", x.store.read, windowQuery, []any{1, 9}, []string{"SEARCH docs USING COVERING INDEX docs_user"}},
		{"model", x.store.read, modelQuery, []any{"m", 9}, []string{"SEARCH models USING COVERING INDEX"}},
		{"signs", x.store.read, signsQuery, []any{1, 1, 0}, []string{"SEARCH v USING COVERING INDEX vectors_user", "SEARCH docs USING INTEGER PRIMARY KEY"}},
		{"signs' floor", x.store.read, signsFloorQuery, []any{1, 1, 9}, []string{"SEARCH vectors USING COVERING INDEX vectors_user"}},
		{"vectors", x.store.read, vectorsQuery, []any{"[1]"}, []string{"SEARCH vectors USING INTEGER PRIMARY KEY"}},
		{"fresh", x.store.read, freshQuery, []any{1, 9, 16}, []string{"SEARCH docs USING COVERING INDEX docs_seq", "SEARCH v USING COVERING INDEX"}},
		{"older", x.store.read, olderQuery, []any{1, 9, 16}, []string{"SEARCH docs USING COVERING INDEX docs_seq", "SEARCH v USING COVERING INDEX"}},
		{"newest", x.source.db, newestQuery, nil, []string{"SEARCH meta", "SEARCH journal"}},
		{"changes", x.source.db, changesQuery, []any{9, 9, 0, 9}, []string{"SEARCH j USING INTEGER PRIMARY KEY", "SEARCH t USING INTEGER PRIMARY KEY"}},
		{"snippet", x.source.db, snippetQuery, []any{9, 9, 1, "ada", "two"}, []string{"SEARCH turns USING INTEGER PRIMARY KEY"}},
		{"texts", x.source.db, textsQuery, []any{9, 9, "[1]"}, []string{"SEARCH turns USING INTEGER PRIMARY KEY"}},
	} {
		plan := explainPlan(t, x, c.db, c.query, c.args)
		for _, want := range c.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s: the plan has no %q:\n%s", c.name, want, plan)
			}
		}
		for line := range strings.Lines(plan) {
			if strings.HasPrefix(line, "SCAN") && !strings.Contains(line, "VIRTUAL TABLE INDEX") && !strings.Contains(line, "CONSTANT ROW") && !strings.Contains(line, "subquery") {
				t.Errorf("%s: the plan reads a whole table: %s", c.name, line)
			}
		}
	}
}

func explainPlan(t *testing.T, x *Index, db row, query string, args []any) string {
	t.Helper()
	pool := x.store.read
	if db == row(x.source.db) {
		pool = x.source.db
	}
	rows, err := pool.Query(`EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	return plan.String()
}

func TestQueryTerms(t *testing.T) {
	word := func(words ...string) (list []term) {
		for _, w := range words {
			list = append(list, term{word: w})
		}
		return list
	}
	for text, want := range map[string][]term{
		"":                nil,
		" \n.,-":          nil,
		"One two ONE":     word("one", "two"),
		"max_tokens=0x1F": word("max", "tokens", "0x1f"),
		"北京天气":            word("北京", "京天", "天气"),
		"Go言語 is":         word("go", "言語", "is"),
		"猫":               {{"猫", true}},
		"a\x00b\xffc":     word("a", "b", "c"),
		"\u0301":          nil,
		strings.Repeat("\u0301", wordRunes) + "a": nil, // its end is past what counts
		strings.Repeat("é", 99):                   word(strings.Repeat("é", wordRunes)),
	} {
		if got := queryTerms(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v; want %v", text, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	of := func(turns ...int) (list []counted) {
		for _, n := range turns {
			list = append(list, counted{turns: n})
		}
		return list
	}
	for _, c := range []struct{ all, rare, common []counted }{
		{of(), of(), of()},
		{of(0, 0), of(), of()},
		{of(5, 0, 1), of(1, 5), of()},
		{of(rankedTurns, 1), of(1), of(rankedTurns)},
		{of(rankedTurns-1, 1), of(1, rankedTurns-1), of()},
		{of(rankedTurns+1, rankedTurns+1), of(), of(rankedTurns+1, rankedTurns+1)},
		{of(slices.Repeat([]int{1}, 20)...), of(slices.Repeat([]int{1}, rareTerms)...), of(slices.Repeat([]int{1}, 20-rareTerms)...)},
	} {
		rare, common := choose(slices.Clone(c.all))
		if !slices.Equal(rare, c.rare) || !slices.Equal(common, c.common) {
			t.Errorf("%v: got %v and %v", c.all, rare, common)
		}
	}
}

func TestFuse(t *testing.T) {
	for _, c := range []struct{ a, b, want []int64 }{
		{nil, nil, nil},
		{[]int64{3, 1}, nil, []int64{3, 1}},
		{[]int64{1, 2}, []int64{2, 1}, []int64{2, 1}},
		{[]int64{1, 2, 3}, []int64{3}, []int64{3, 1, 2}},
		{[]int64{1}, []int64{2}, []int64{2, 1}},
	} {
		if got := fuse(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: got %v; want %v", c.a, c.b, got, c.want)
		}
	}
}

// FuzzWords: any text is found by any of its own words, and its expression is one that FTS5 takes.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"one two", "北京 a猫", "\x00\xff", "\"a\" OR b*", "e\u0301 \u0301", "ภาษาไทย", "ーー", "1:a", strings.Repeat("\u0301", wordRunes) + "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		indexed := string(appendIndexed(nil, "7:", text))
		if !utf8.ValidString(indexed) {
			t.Errorf("%q is indexed as %q", text, indexed)
		}
		for _, word := range strings.Fields(indexed) {
			if !strings.HasPrefix(word, "7:") || strings.ContainsAny(word[2:], `":*()^ `) {
				t.Errorf("%q has the word %q", text, word)
			}
		}
		terms := queryTerms(text)
		if len(terms) > queryWords || (len(terms) == 0) != (indexed == "") && len(text) <= queryHead {
			t.Errorf("%q: %d terms, indexed %q", text, len(terms), indexed)
		}
		if cut := cutBytes(text, 5); len(cut) > 5 || utf8.ValidString(text) && !utf8.ValidString(cut) {
			t.Errorf("%q is cut to %q", text, cut)
		}
	})
}
