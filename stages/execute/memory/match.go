package memory

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// rankedTurns is how many turns' words are ranked at most: 1.5 to 3 µs each.
	rankedTurns = 700
	// windowTurns is how many of a user's newest turns are searched for common words.
	windowTurns = 1000
	rareTerms   = 10 // words of the first search at most
	commonTerms = 3  // words of the second at most; FTS5's bm25 counts all turns that hold each

	// A word that more than a commonShare-th of a user's turns hold, and more than commonFloor of them,
	// doesn't tell one turn from another.
	commonShare = 4
	commonFloor = 10
)

// counted is a term with the number of turns that hold it, as far as they were counted.
type counted struct {
	term
	turns int
}

// telling returns the terms that tell one of so many turns from another.
func telling(terms []counted, turns int) []counted {
	return slices.DeleteFunc(terms, func(c counted) bool { return c.turns > max(commonFloor, turns/commonShare) })
}

// choose parts the terms that occur, the rarest first: those whose turns come to at most rankedTurns,
// and those that are too common for that.
func choose(terms []counted) (rare, common []counted) {
	terms = slices.DeleteFunc(terms, func(c counted) bool { return c.turns == 0 })
	slices.SortStableFunc(terms, func(a, b counted) int { return cmp.Compare(a.turns, b.turns) })
	sum := 0
	for i, c := range terms {
		if sum += c.turns; sum > rankedTurns || i == rareTerms {
			return terms[:i], terms[i:]
		}
	}
	return terms, nil
}

// match returns the FTS5 expression for any of the terms after mark: each a string in quotes, in
// which no character but the quote means anything (https://www.sqlite.org/fts5.html, 3.1).
func match[T interface{ expression(mark string) string }](mark string, terms ...T) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = t.expression(mark)
	}
	return strings.Join(parts, " OR ")
}

func (t term) expression(mark string) string {
	quoted := `"` + strings.ReplaceAll(mark+t.word, `"`, `""`) + `"`
	if t.prefix {
		return quoted + "*"
	}
	return quoted
}
