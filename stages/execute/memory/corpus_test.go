package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// corpus makes texts whose words are distributed as in natural language (Zipf's law).
type corpus struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

const corpusWords = 200_000

func newCorpus(seed uint64) *corpus {
	random := rand.New(rand.NewPCG(seed, 2))
	return &corpus{random, rand.NewZipf(random, 1.1, 2.7, corpusWords-1)}
}

// corpusWord returns the word of a rank; 0 is the most common.
func corpusWord(rank uint64) string {
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	var b []byte
	for k := rank*2654435761%1000003 + 27; k > 0; k /= 26 {
		b = append(b, letters[k%26])
	}
	return string(b)
}

func (c *corpus) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(corpusWord(c.zipf.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()
}

// between returns words whose ranks lie in a range.
func (c *corpus) between(words int, low, high uint64) string {
	var b strings.Builder
	for range words {
		b.WriteString(corpusWord(low + c.random.Uint64N(high-low)))
		b.WriteByte(' ')
	}
	return b.String()
}

// corpusUser is who stored a turn: half of them are one user's, the others those of nine.
func (c *corpus) user() string {
	if c.random.IntN(2) == 0 {
		return "u0"
	}
	return fmt.Sprint("u", 1+c.random.IntN(9))
}

// fill stores turns of 5 to 64 words of input and 20 to 279 of response, 20 in a session.
func (c *corpus) fill(t testing.TB, dir string, turns int) {
	t.Helper()
	s := newSessions(t, dir)
	s.exec(`BEGIN`)
	for i := range turns {
		s.turn(c.user(), fmt.Sprint("s", i/20), c.text(5+c.random.IntN(60)), c.text(20+c.random.IntN(260)))
		if i%1000 == 999 {
			s.exec(`COMMIT`)
			s.exec(`BEGIN`)
		}
	}
	s.exec(`COMMIT`)
}
