package demo

import (
	"regexp"
	"strings"
)

// wordPattern finds words (letters with inner hyphens and apostrophes) and
// punctuation marks.
var wordPattern = regexp.MustCompile(`[A-Za-z]+(?:['-][A-Za-z]+)*|[.,;:!?]`)

// maxPhraseWords bounds a phrase, so that the vocabulary stays small.
const maxPhraseWords = 4

// functionWords say little by themselves: each belongs to the word after it.
var functionWords = wordSet(`
	a an the its their every each no our your this these such
	one two first same other another some any many few
	of in at to from for with by on into between under behind until than as
	is are was has have can may should must will would could does do not never
	it they you he we and or but that which who so if when`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

func isPunctuation(phrase string) bool {
	return strings.ContainsAny(phrase[:1], ".,;:!?")
}

// endsSentence reports whether a phrase is a mark that ends a sentence.
func endsSentence(phrase string) bool {
	return phrase == "." || phrase == "!" || phrase == "?"
}

// splitParagraphs cuts a text at its blank lines and each paragraph into phrases.
func splitParagraphs(text string) [][]string {
	var paragraphs [][]string
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if phrases := joinPhrases(wordPattern.FindAllString(part, -1)); len(phrases) > 0 {
			paragraphs = append(paragraphs, phrases)
		}
	}
	return paragraphs
}

// joinPhrases joins function words with the word after them. Marks stand alone.
func joinPhrases(words []string) []string {
	var phrases []string
	start := 0 // of the phrase that is still open
	for i, word := range words {
		mark := isPunctuation(word)
		if mark && start < i {
			phrases = append(phrases, strings.Join(words[start:i], " "))
			start = i
		}
		if mark || !functionWords[strings.ToLower(word)] || i+1-start == maxPhraseWords {
			phrases = append(phrases, strings.Join(words[start:i+1], " "))
			start = i + 1
		}
	}
	if start < len(words) {
		phrases = append(phrases, strings.Join(words[start:], " "))
	}
	return phrases
}

// openingPhrase is what a paragraph's first statement begins with: a paragraph
// that opens with a question is an answer to it, and answers don't start by asking.
func openingPhrase(phrases []string) string {
	start := 0
	for i, phrase := range phrases {
		if endsSentence(phrase) {
			if phrase != "?" {
				return phrases[start]
			}
			start = i + 1
		}
	}
	return ""
}

// Tokenize splits text into phrases of the vocabulary, the longest that fit, and
// everything else into byte tokens. It counts prompts; llama.cpp's SentencePiece
// merges may split the same text otherwise.
func (m *Model) Tokenize(text string) []Token {
	var tokens []Token
	words, end := wordPattern.FindAllStringIndex(text, -1), 0
	for len(words) > 0 {
		token, count := m.longestPhrase(text, words)
		first, last := words[0], words[max(count, 1)-1]
		gap := text[end:first[0]]
		if count > 0 && !isPunctuation(text[first[0]:]) {
			gap = strings.TrimSuffix(gap, " ") // the phrase's token includes it
		}
		tokens = appendBytes(tokens, gap)
		if count > 0 {
			tokens = append(tokens, token)
		} else {
			tokens = appendBytes(tokens, text[first[0]:first[1]])
		}
		end, words = last[1], words[max(count, 1):]
	}
	return appendBytes(tokens, text[end:])
}

// longestPhrase finds the longest known phrase that starts at the first word and
// says how many words it has, 0 when there is none.
func (m *Model) longestPhrase(text string, words [][]int) (token Token, count int) {
	for count := min(maxPhraseWords, len(words)); count > 0; count-- {
		if token, known := m.vocabulary.phrases[text[words[0][0]:words[count-1][1]]]; known {
			return token, count
		}
	}
	return 0, 0
}

func appendBytes(tokens []Token, text string) []Token {
	for _, b := range []byte(text) {
		tokens = append(tokens, byteToken(b))
	}
	return tokens
}
