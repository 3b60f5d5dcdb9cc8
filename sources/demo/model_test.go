package demo

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestBuildCountsPhrases(t *testing.T) {
	m := Build("What is it? A pipe is full. A pipe waits.\n\nThe end.")
	pipe, full, waits, stop := m.token(t, "A pipe"), m.token(t, "is full"), m.token(t, "waits"), m.token(t, ".")
	tests := []struct {
		name       string
		prev, next Token
		weight     uint64
	}{
		{"one of two", pipe, full, bigramWeight},
		{"the other", pipe, waits, bigramWeight},
		{"sentence to sentence", stop, pipe, bigramWeight},
		{"both paragraph ends", stop, endToken, 2 * endWeight},
		{"not across paragraphs", stop, m.token(t, "The end"), 0},
		{"never seen", full, waits, 0},
	}
	for _, test := range tests {
		if got := m.rows[test.prev].weight(test.next); got != test.weight {
			t.Errorf("%s: weight %d, want %d", test.name, got, test.weight)
		}
	}
	var openings []string
	for _, token := range m.rows[byteToken('\n')].next {
		if token >= firstPhraseToken {
			openings = append(openings, m.Text(token))
		}
	}
	if want := []string{"A pipe", "The end"}; !slices.Equal(openings, want) {
		t.Errorf("answers open with %q, want %q", openings, want)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	if !reflect.DeepEqual(Build(corpus), Build(corpus)) {
		t.Error("two builds of one corpus differ")
	}
}

func TestBuildTakesAnyText(t *testing.T) {
	for _, text := range []string{"", "\n\n\n", "…", "word", "?", ".", "a", "What?", "Is it?\n\nYes.", "a\r\n\r\nb."} {
		answer := Build(text).NewAnswer(AnswerOptions{Temperature: 1})
		for range 1000 {
			if _, more := answer.Next(); !more {
				break
			}
		}
	}
}

func TestVocabularyIsUnique(t *testing.T) {
	m, seen := Default(), map[string]bool{}
	for _, piece := range m.vocabulary.pieces {
		if seen[piece] {
			t.Errorf("piece %q stands for two tokens", piece) // llama.cpp refuses that
		}
		seen[piece] = true
	}
}

func TestCorpusIsPlainProse(t *testing.T) {
	if words := len(strings.Fields(corpus)); words < 3000 || words > 5000 {
		t.Errorf("%d words", words)
	}
	for i, paragraph := range strings.Split(strings.TrimSpace(corpus), "\n\n") {
		if !strings.HasSuffix(paragraph, ".") {
			t.Errorf("paragraph %d doesn't end with a full stop", i)
		}
	}
	for _, r := range corpus {
		if r > unicode.MaxASCII {
			t.Fatalf("%q in the corpus", r)
		}
	}
}

func TestJoinPhrases(t *testing.T) {
	tests := []struct{ text, want string }{
		{"The end of the pipe.", "The end|of the pipe|."},
		{"It waits, and then it goes.", "It waits|,|and then|it goes|."},
		{"of in at to from", "of in at to|from"},
		{"what is it", "what|is it"},
		{"well-known don't", "well-known|don't"},
		{"5 € ok", "ok"},
		{"", ""},
	}
	for _, test := range tests {
		got := strings.Join(joinPhrases(wordPattern.FindAllString(test.text, -1)), "|")
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzTokenize(f *testing.F) {
	for _, text := range []string{"", "A pipe is full.", " pipe", "a  pipe", "the the pipe,,", "\x00\xff é", "of the", "A-b's."} {
		f.Add(text)
	}
	m := Build("A pipe is full. The pipe, of the pipe.")
	f.Fuzz(func(t *testing.T, text string) {
		var joined strings.Builder
		for _, token := range m.Tokenize(text) {
			if m.vocabulary.kinds[token] == kindByte {
				joined.WriteByte(byte(token - firstByteToken))
			} else {
				joined.WriteString(m.Text(token))
			}
		}
		// A phrase's token has a leading space; without one in the text it adds it.
		if strip(joined.String()) != strip(text) {
			t.Errorf("%q came back as %q", text, joined.String())
		}
	})
}

func strip(text string) string {
	return strings.ReplaceAll(text, " ", "")
}

func TestNextFollowsTheCounts(t *testing.T) {
	m := Build("it waits. it waits. it waits. it runs.")
	prev, random := m.token(t, "."), rand.New(rand.NewPCG(1, 2))
	const draws = 20000
	seen := map[Token]int{}
	for range draws {
		seen[m.Next(prev, random)]++
	}
	row := &m.rows[prev]
	for i, next := range row.next {
		want := float64(row.weights[i]) / float64(row.total)
		if got := float64(seen[next]) / draws; math.Abs(got-want) > 0.02 {
			t.Errorf("%q drawn with %.3f, want %.3f", m.Text(next), got, want)
		}
	}
}

func TestTemperature(t *testing.T) {
	m := Build("it waits. it waits. it waits. it runs.")
	prev, likely := m.token(t, "."), m.token(t, "it waits")
	var shares []float64
	for _, temperature := range []float64{0, 0.01, 0.5, 1, 5} {
		sampler, hits := m.NewSampler(temperature, rand.New(rand.NewPCG(1, 2))), 0
		for range 2000 {
			if sampler.Next(prev) == likely {
				hits++
			}
		}
		shares = append(shares, float64(hits)/2000)
	}
	if shares[0] != 1 || shares[1] != 1 {
		t.Errorf("near temperature 0 the likeliest is drawn with %v", shares[:2])
	}
	for i := 2; i < len(shares); i++ {
		if shares[i] >= shares[i-1] {
			t.Errorf("shares %v don't fall with the temperature", shares)
		}
	}
}

// token finds a phrase's token.
func (m *Model) token(t *testing.T, phrase string) Token {
	t.Helper()
	token, ok := m.vocabulary.phrases[phrase]
	if !ok {
		t.Fatalf("%q isn't in the vocabulary", phrase)
	}
	return token
}
