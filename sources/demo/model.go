package demo

import (
	_ "embed" // the corpus
	"slices"
	"strings"
	"sync"
)

// ModelName is what the demo model calls itself, in-process and in its GGUF file.
const ModelName = "sluice-demo"

//go:embed corpus.txt
var corpus string

// Default returns the model of the embedded corpus. It is built by the first
// call and shared by all.
var Default = sync.OnceValue(func() *Model { return Build(corpus) })

// Model is a bigram language model: for each token, how often each other token
// followed it. It never changes after Build.
type Model struct {
	vocabulary *vocabulary
	rows       []row // by token; an empty row means that the answer ends
}

// row holds the followers of one token, sorted by token, with their weights.
type row struct {
	next    []Token
	weights []uint64
	total   uint64
}

// Build counts the bigrams of corpus, whose paragraphs are separated by blank
// lines. Equal texts give equal models. Whatever is neither a word nor one of
// .,;:!? is ignored.
func Build(corpus string) *Model {
	paragraphs := splitParagraphs(corpus)
	counted, opening := map[string]int{}, map[string]int{}
	for _, phrases := range paragraphs {
		for _, phrase := range phrases {
			counted[phrase]++
		}
		if phrase := openingPhrase(phrases); phrase != "" {
			opening[phrase]++
		}
	}
	v := newVocabulary(counted, opening)
	counts := make([]map[Token]uint64, len(v.pieces))
	for i := range counts {
		counts[i] = map[Token]uint64{}
	}
	for _, phrases := range paragraphs {
		countParagraph(counts, v, phrases)
	}
	countOpenings(counts, v, opening)
	countToolCalls(counts)
	return &Model{vocabulary: v, rows: sortedRows(counts)}
}

// What a bigram and the end of a paragraph count. One full stop in seven ends a
// paragraph, while what begins a sentence is rare each time; at the low
// temperatures that servers default to, the end would nearly always win.
const (
	bigramWeight = 3
	endWeight    = 1
)

func countParagraph(counts []map[Token]uint64, v *vocabulary, phrases []string) {
	for i, phrase := range phrases[:len(phrases)-1] {
		counts[v.phrases[phrase]][v.phrases[phrases[i+1]]] += bigramWeight
	}
	counts[v.phrases[phrases[len(phrases)-1]]][endToken] += endWeight
}

// countOpenings gives an opening phrase the followers of the same phrase in
// mid-text, and every token that isn't a phrase the openings as followers: the
// chat template ends a prompt with a newline, and that is where an answer begins.
func countOpenings(counts []map[Token]uint64, v *vocabulary, opening map[string]int) {
	for phrase, count := range opening {
		token := v.opening[phrase]
		counts[token] = counts[v.phrases[phrase]]
		for start := range firstPhraseToken {
			if start != endToken && start != eosToken {
				counts[start][token] = uint64(count)
			}
		}
	}
}

func sortedRows(counts []map[Token]uint64) []row {
	rows := make([]row, len(counts))
	for token, followers := range counts {
		r := &rows[token]
		for next := range followers {
			r.next = append(r.next, next)
		}
		slices.Sort(r.next)
		for _, next := range r.next {
			r.weights = append(r.weights, followers[next])
			r.total += uint64(followers[next])
		}
	}
	return rows
}

// Len returns the number of tokens in the vocabulary.
func (m *Model) Len() int {
	return len(m.rows)
}

// Text returns what a token adds to an answer, leading space included; tags and
// bytes outside ASCII have none.
func (m *Model) Text(token Token) string {
	switch m.vocabulary.kinds[token] {
	case kindNormal:
		return strings.ReplaceAll(m.vocabulary.pieces[token], spaceMark, " ")
	case kindByte:
		if b := byte(token - firstByteToken); b < 0x80 {
			return string(rune(b))
		}
	}
	return ""
}

// weight returns how often next followed, 0 for never.
func (r *row) weight(next Token) uint64 {
	if at, found := slices.BinarySearch(r.next, next); found {
		return r.weights[at]
	}
	return 0
}
