package demo

import (
	"strings"
	"testing"
	"unicode"
)

// write gives the text of an answer, of at most limit tokens, and whether it ended.
func write(m *Model, options AnswerOptions, limit int) (text string, ended bool) {
	answer, b := m.NewAnswer(options), strings.Builder{}
	for range limit {
		token, more := answer.Next()
		if !more {
			return b.String(), true
		}
		b.WriteString(m.Text(token))
	}
	return b.String(), false
}

func TestAnswersAreSentences(t *testing.T) {
	const answers = 500
	lengths := map[int]int{}
	for seed := range uint64(answers) {
		text, ended := write(Default(), AnswerOptions{Temperature: 0.8, Seed: seed}, 1000)
		if !ended || !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
			t.Errorf("seed %d: ends in mid-sentence: %q", seed, text)
		}
		if !unicode.IsUpper(rune(text[0])) || strings.Contains(text, "  ") {
			t.Errorf("seed %d: badly set: %q", seed, text)
		}
		if len(strings.Fields(text)) < 3 {
			t.Errorf("seed %d: too short: %q", seed, text)
		}
		lengths[strings.Count(text, ".")+strings.Count(text, "?")]++
	}
	for n := minSentences; n <= maxSentences; n++ {
		if lengths[n] == 0 {
			t.Errorf("no answer of %d sentences: %v", n, lengths)
		}
		answered := lengths[n]
		delete(lengths, n)
		if answered > answers/2 {
			t.Errorf("%d of %d answers have %d sentences", answered, answers, n)
		}
	}
	if len(lengths) > 0 {
		t.Errorf("answers of other lengths: %v", lengths)
	}
}

func TestAnswerAtTemperatureZeroEnds(t *testing.T) {
	text, ended := write(Default(), AnswerOptions{}, 100)
	if !ended || len(strings.Fields(text)) < 3 {
		t.Errorf("%q, ended %v", text, ended)
	}
}

func TestAnswerDependsOnTopicAndSeed(t *testing.T) {
	base := AnswerOptions{Topic: "What is a pipe?", Temperature: 0.8, Seed: 7}
	first, _ := write(Default(), base, 200)
	if again, _ := write(Default(), base, 200); again != first {
		t.Error("equal options give different answers")
	}
	seeded, asked := base, base
	seeded.Seed, asked.Topic = 8, "What is a pipe, then?"
	for name, options := range map[string]AnswerOptions{"seed": seeded, "topic": asked} {
		if other, _ := write(Default(), options, 200); other == first {
			t.Errorf("another %s gives the same answer", name)
		}
	}
}

func TestAnswerTakesUpTheTopic(t *testing.T) {
	for _, topic := range []string{"pipe", "stream", "reader", "queue"} {
		hits := 0
		for seed := range uint64(50) {
			text, _ := write(Default(), AnswerOptions{Topic: "What is a " + topic + "?", Temperature: 0.8, Seed: seed}, 500)
			first, _, _ := strings.Cut(text, ".")
			if strings.Contains(strings.ToLower(first), topic) {
				hits++
			}
		}
		if hits < 35 {
			t.Errorf("%s: only %d of 50 answers begin with it", topic, hits)
		}
	}
}

func TestIgnoreEnd(t *testing.T) {
	for _, temperature := range []float64{0, 0.8} {
		text, ended := write(Default(), AnswerOptions{Temperature: temperature, IgnoreEnd: true}, 5000)
		if ended {
			t.Errorf("temperature %v: ended after %d bytes", temperature, len(text))
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	answer := Default().NewAnswer(AnswerOptions{Temperature: 0.8, IgnoreEnd: true})
	b.ReportAllocs()
	for b.Loop() {
		answer.Next()
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		Build(corpus)
	}
}
