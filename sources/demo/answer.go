package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// How many sentences an answer has.
const (
	minSentences = 2
	maxSentences = 5
)

// AnswerOptions say how to answer.
type AnswerOptions struct {
	Topic       string  // the first sentence takes up one of its words if it can
	Temperature float64 // as for NewSampler
	Seed        uint64  // equal options give equal answers, in every process
	IgnoreEnd   bool    // never end: the caller stops
}

// Answer generates one answer, token by token. It belongs to one goroutine.
type Answer struct {
	model     *Model
	sampler   *Sampler
	options   AnswerOptions
	last      Token   // the token that was given out last; at first beginToken, which only openings follow
	drafted   []Token // of the first sentence, still to be given out
	sentences int     // that were given out
	length    int     // in sentences, drawn when the answer starts
}

// NewAnswer starts an answer of two to five sentences; at temperature 0, where
// sentences would repeat, it ends as soon as the model prefers that.
func (m *Model) NewAnswer(options AnswerOptions) *Answer {
	random := rand.New(rand.NewPCG(options.Seed, hashText(options.Topic)))
	a := &Answer{
		model:   m,
		sampler: m.NewSampler(options.Temperature, random),
		options: options,
		last:    beginToken,
		length:  minSentences + random.IntN(maxSentences-minSentences+1),
	}
	a.drafted = a.firstSentence(topicWords(options.Topic))
	return a
}

// Next returns the next token, or false at the end of the answer.
func (a *Answer) Next() (token Token, more bool) {
	if len(a.drafted) > 0 {
		token, a.drafted = a.drafted[0], a.drafted[1:]
	} else if token = a.follow(); token == endToken {
		return 0, false
	}
	if a.model.endsSentence(token) {
		a.sentences++
	}
	a.last = token
	return token, true
}

// follow draws the next token and overrules the model about the end: a bigram
// can't count sentences.
func (a *Answer) follow() Token {
	if !a.options.IgnoreEnd && a.sentences >= a.length && a.model.endsSentence(a.last) {
		return endToken
	}
	token := a.sampler.Next(a.last)
	trusted := a.options.Temperature <= 0 && !a.options.IgnoreEnd
	if token == endToken && !trusted {
		return a.model.spaced(a.sampler.Next(beginToken)) // as if a new paragraph began
	}
	return token
}

// How a first sentence is sought: of so many, the one that shares most words
// with the topic, and among equals the first.
const (
	draftCount  = 64
	draftTokens = 60 // a sentence still unfinished by then is taken as it is, and goes on
)

func (a *Answer) firstSentence(topic []string) []Token {
	best := a.draft()
	score := a.sharedWords(best, topic)
	for n := 1; n < draftCount && score < len(topic); n++ {
		draft := a.draft()
		if shared := a.sharedWords(draft, topic); shared > score {
			best, score = draft, shared
		}
	}
	return best
}

func (a *Answer) draft() []Token {
	var tokens []Token
	for token := beginToken; len(tokens) < draftTokens && !a.model.endsSentence(token); {
		if token = a.sampler.Next(token); token == endToken {
			break // a corpus without sentences
		}
		tokens = append(tokens, token)
	}
	return tokens
}

func (a *Answer) sharedWords(tokens []Token, topic []string) int {
	shared := map[string]bool{}
	for _, token := range tokens {
		for word := range strings.FieldsSeq(a.model.Text(token)) {
			if slices.Contains(topic, stem(word)) {
				shared[stem(word)] = true
			}
		}
	}
	return len(shared)
}

// topicWords returns the words of a text that may name its topic: those of four
// letters and more that don't merely ask.
func topicWords(text string) []string {
	var topic []string
	for _, word := range wordPattern.FindAllString(text, -1) {
		if len(word) >= 4 && !askingWords[strings.ToLower(word)] {
			topic = append(topic, stem(word))
		}
	}
	return topic
}

var askingWords = map[string]bool{
	"what": true, "when": true, "where": true, "which": true, "does": true, "have": true, "with": true,
	"that": true, "this": true, "from": true, "tell": true, "about": true, "please": true, "explain": true,
}

// stem makes "Pipes" and "pipe" equal.
func stem(word string) string {
	return strings.TrimSuffix(strings.ToLower(word), "s")
}

// hashText is 64-bit FNV-1a, not hash/maphash, whose seed differs in every process.
func hashText(text string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(text))
	return hash.Sum64()
}
