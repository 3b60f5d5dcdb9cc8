package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Token is an index into a Model's vocabulary.
type Token int32

// The fixed part of the vocabulary. Its order is ours; llama.cpp asks only that
// the numbers agree with the tokenizer keys of the GGUF file.
const (
	unknownToken Token = iota
	beginToken
	eosToken
	firstByteToken
	imStartToken Token = iota + 255 // after 256 byte tokens
	endToken                        // <|im_end|>: the end of an answer
	callToken                       // the template's request for a tool call
	toolOpenToken
	toolCloseToken
	firstPhraseToken
)

// spaceMark stands for a space in pieces of a SentencePiece vocabulary (U+2581).
const spaceMark = "\u2581"

// tokenKind is a token's tokenizer.ggml.token_type; the numbers are those of
// enum llama_token_type in llama.cpp's include/llama.h.
type tokenKind int32

const (
	kindNormal      tokenKind = 1
	kindUnknown     tokenKind = 2
	kindControl     tokenKind = 3
	kindUserDefined tokenKind = 4
	kindByte        tokenKind = 6
)

// vocabulary maps tokens to pieces and phrases to tokens.
type vocabulary struct {
	pieces  []string // as in the GGUF file: ▁ for a space, <0x0A> for a byte
	kinds   []tokenKind
	phrases map[string]Token // by the phrase without its leading space
	opening map[string]Token // phrases that begin an answer; no leading space
}

// newVocabulary numbers the phrases of counted and of opening after the fixed part.
func newVocabulary(counted, opening map[string]int) *vocabulary {
	v := &vocabulary{phrases: map[string]Token{}, opening: map[string]Token{}}
	v.add("<unk>", kindUnknown)
	v.add("<s>", kindControl)
	v.add("</s>", kindControl)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), kindByte)
	}
	v.add("<|im_start|>", kindControl)
	v.add("<|im_end|>", kindControl)
	v.add("<|call|>", kindControl)
	v.add("<tool_call>", kindUserDefined)
	v.add("</tool_call>", kindUserDefined)
	for _, phrase := range byFrequency(counted) {
		piece := strings.ReplaceAll(phrase, " ", spaceMark)
		if !isPunctuation(phrase) {
			piece = spaceMark + piece
		}
		v.phrases[phrase] = v.add(piece, kindNormal)
	}
	for _, phrase := range byFrequency(opening) {
		v.opening[phrase] = v.add(strings.ReplaceAll(phrase, " ", spaceMark), kindNormal)
	}
	return v
}

func (v *vocabulary) add(piece string, kind tokenKind) Token {
	v.pieces = append(v.pieces, piece)
	v.kinds = append(v.kinds, kind)
	return Token(len(v.pieces) - 1)
}

// byFrequency orders phrases by falling count, equal ones by name, so that equal
// corpora give equal vocabularies.
func byFrequency(counts map[string]int) []string {
	phrases := slices.Collect(maps.Keys(counts))
	slices.SortFunc(phrases, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return phrases
}

func byteToken(b byte) Token {
	return firstByteToken + Token(b)
}

// endsSentence reports whether a token is a mark that ends a sentence.
func (m *Model) endsSentence(token Token) bool {
	return endsSentence(m.vocabulary.pieces[token])
}

// spaced returns the token for the same phrase with its leading space, if there is one.
func (m *Model) spaced(token Token) Token {
	if spaced, ok := m.vocabulary.phrases[strings.ReplaceAll(m.vocabulary.pieces[token], spaceMark, " ")]; ok {
		return spaced
	}
	return token
}
