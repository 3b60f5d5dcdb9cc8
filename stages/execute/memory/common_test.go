package memory

import (
	"testing"
)

// TestCommonWords: words that more turns hold than are ranked are looked for in the newest.
func TestCommonWords(t *testing.T) {
	s := newSessions(t, t.TempDir())
	rare := s.turn("ada", "one", "needle in hay", "")
	s.many(commonShare*(rankedTurns+10), `CASE i % 5 WHEN 0 THEN 'hay number ' ELSE 'straw number ' END || i`, `''`)
	newest := s.turn("ada", "one", "hay and hay", "hay")
	x := open(t, Options{Dir: s.dir, TopK: 2})
	for range 2 { // the second time some of it is known
		wantTurns(t, find(t, x, "ada", "two", "needle hay"), rare, newest)
		if got := find(t, x, "ada", "two", "hay"); len(got) != 2 || got[0] != newest {
			t.Errorf("found %v; want %d first", got, newest)
		}
		wantTurns(t, find(t, x, "ada", "two", "straw number"))
	}
}

// TestWordsThatTellNothing bring no turn by themselves, in any number of turns, and don't keep others
// from bringing theirs.
func TestWordsThatTellNothing(t *testing.T) {
	s := newSessions(t, t.TempDir())
	first := s.turn("ada", "one", "What is the best way to the station?", "It is the one by the river, and you will like it.")
	x := open(t, Options{Dir: s.dir})
	for _, query := range []string{"the", "How is it?", "what is the", "and you", "you and the", "WILL IT"} {
		wantTurns(t, find(t, x, "ada", "two", query))
	}
	wantTurns(t, find(t, x, "ada", "two", "the river"), first)

	// Words of no list, by how many turns hold them: gadu is in all, ymyl in a fifth.
	s.many(40, `'gadu ' || CASE i % 5 WHEN 0 THEN 'ymyl' ELSE 'arall' || i END`, `''`)
	wantTurns(t, find(t, x, "ada", "two", "gadu"))
	for _, query := range []string{"ymyl", "gadu ymyl", "the ymyl gadu"} {
		if got := find(t, x, "ada", "two", query); len(got) != defaultTopK {
			t.Errorf("%q: found %v", query, got)
		}
	}
	wantTurns(t, find(t, x, "ada", "two", "gadu station"), first)
}

func TestTelling(t *testing.T) {
	for _, c := range []struct {
		turns int
		held  []int
		want  int
	}{
		{0, nil, 0}, {1, []int{0, 1}, 2}, {commonFloor, []int{commonFloor}, 1}, {40, []int{10, 11}, 1},
		{100, []int{25, 26, 100, 0}, 2}, {commonShare * (rankedTurns + 1), []int{rankedTurns + 1}, 1},
		{commonShare*(rankedTurns+1) - 1, []int{rankedTurns + 1}, 0},
	} {
		var terms []counted
		for _, n := range c.held {
			terms = append(terms, counted{turns: n})
		}
		if got := telling(terms, c.turns); len(got) != c.want {
			t.Errorf("of %d turns, %v: got %v", c.turns, c.held, got)
		}
	}
}
