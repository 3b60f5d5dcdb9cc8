package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	indexedInput    = 4 << 10 // bytes of a turn's input that are indexed
	indexedResponse = 8 << 10 // bytes of a turn's response that are indexed
	queryHead       = 4 << 10 // bytes of a query's beginning that are looked at
	queryTail       = 4 << 10 // bytes of its end that are
	wordRunes       = 64      // characters of a longer word that count
	queryWords      = 24      // different words of a query whose frequency is looked up
)

// term is a word of a query. A prefix stands for all words that begin with it.
type term struct {
	word   string
	prefix bool
}

// kind says what a character is to a text's words.
type kind int

const (
	separator kind = iota
	letter         // of a script that puts spaces between words
	dense          // of one that doesn't, or for which pairs of characters are the better words
)

// denseScripts are written without spaces between words, or, like Korean, glue particles to them.
var denseScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// prolonged is the mark of a long vowel, which Unicode gives to no script.
const prolonged = 'ー'

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return letter
		}
		return separator
	case r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return separator
	case r == prolonged || unicode.In(r, denseScripts...):
		return dense
	}
	return letter
}

// runs calls yield with each longest run of characters of one kind that isn't separator.
func runs(text string, yield func(run string, k kind)) {
	start, current := 0, separator
	for i, r := range text {
		k := kindOf(r)
		if k == current {
			continue
		}
		if current != separator {
			yield(text[start:i], current)
		}
		start, current = i, k
	}
	if current != separator {
		yield(text[start:], current)
	}
}

// appendIndexed appends the words of a text as the index has them, each after mark and before a space.
func appendIndexed(b []byte, mark, text string) []byte {
	add := func(word string) { b = append(append(append(b, mark...), word...), ' ') }
	runs(text, func(run string, k kind) {
		if k == letter {
			if word := cutRunes(run, wordRunes); hasBase(word) {
				add(word)
			}
			return
		}
		pairs(run, add)
		_, size := utf8.DecodeLastRuneInString(run)
		add(run[len(run)-size:])
	})
	return b
}

// queryTerms returns the different words of a text's two ends. Of more than queryWords the longest are
// kept, which in any language are seldom the common ones.
func queryTerms(text string) []term {
	terms, seen := []term(nil), map[term]bool{}
	add := func(word string, prefix bool) {
		t := term{strings.ToLower(word), prefix}
		if !seen[t] {
			seen[t] = true
			terms = append(terms, t)
		}
	}
	for _, part := range ends(text) {
		runs(part, func(run string, k kind) {
			switch {
			case k == dense && utf8.RuneCountInString(run) == 1:
				add(run, true)
			case k == dense:
				pairs(run, func(word string) { add(word, false) })
			default:
				if word := cutRunes(run, wordRunes); hasBase(word) {
					add(word, false)
				}
			}
		})
	}
	if len(terms) > queryWords {
		slices.SortStableFunc(terms, func(a, b term) int { return len(b.word) - len(a.word) })
		terms = terms[:queryWords]
	}
	return terms
}

// ends returns a text, or of a long one its beginning and its end, where a question often stands below
// what it is about.
func ends(text string) []string {
	if len(text) <= queryHead+queryTail {
		return []string{text}
	}
	return []string{cutBytes(text, queryHead), text[runeStart(text, len(text)-queryTail):]}
}

// pairs calls yield with each two neighbouring characters.
func pairs(run string, yield func(pair string)) {
	previous := -1
	for i, r := range run {
		if previous >= 0 {
			yield(run[previous : i+utf8.RuneLen(r)])
		}
		previous = i
	}
}

// hasBase reports whether a word is more than combining marks.
func hasBase(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(unicode.M, r) })
}

func cutRunes(text string, limit int) string {
	for i := range text {
		if limit == 0 {
			return text[:i]
		}
		limit--
	}
	return text
}

// cutBytes returns the beginning of a text, at most limit bytes, cut between two characters.
func cutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:runeStart(text, limit)]
}

// runeStart returns where the character begins that the byte at i belongs to, or i where none does.
func runeStart(text string, i int) int {
	for start := i; start >= 0 && start > i-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			return start
		}
	}
	return i
}
