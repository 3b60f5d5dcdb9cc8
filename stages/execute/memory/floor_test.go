package memory

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// normal returns cosines that are normally distributed.
func normal(random *rand.Rand, n int, mean, deviation float64) (list []float32) {
	for range n {
		list = append(list, float32(mean+deviation*random.NormFloat64()))
	}
	return list
}

// TestFloor: whatever cosine is typical of a model, unrelated turns hardly ever reach the floor, and it
// leaves room for the related ones.
func TestFloor(t *testing.T) {
	for name, c := range map[string]struct {
		mean, deviation float64 // of unrelated turns
		related         float64 // the cosine of those that are
		share           int     // one in so many is related; 0 is none
		turns           int
	}{
		"low":               {0.1, 0.08, 0.55, 20, 1000},
		"low, many related": {0.1, 0.08, 0.55, 4, 1000},
		"low, few":          {0.1, 0.08, 0.55, 0, 20},
		"low, very many":    {0.1, 0.08, 0.6, 100, 100_000},
		"high":              {0.75, 0.02, 0.86, 20, 1000},
		"high, few":         {0.75, 0.02, 0.86, 5, 30},
		"alike":             {0.5, 0.0001, 0.65, 0, 1000},
	} {
		random := rand.New(rand.NewPCG(1, 4))
		reached, missed, rounds := 0, 0, 50
		for range rounds {
			all := normal(random, c.turns, c.mean, c.deviation)
			for i := range all {
				if c.share > 0 && i%c.share == 0 {
					all[i] = float32(c.related)
				}
			}
			var sample []float32
			for i := 0; i < c.turns; i += max(1, c.turns/sampled) {
				sample = append(sample, all[i+random.IntN(min(c.turns-i, max(1, c.turns/sampled)))])
			}
			floor := floorOf(sample, c.turns)
			if float64(floor) > c.related {
				missed++
			}
			for i, one := range all {
				if (c.share == 0 || i%c.share > 0) && one >= floor {
					reached++
				}
			}
		}
		t.Logf("%s: %.2f of %d unrelated turns reach it", name, float64(reached)/float64(rounds), c.turns)
		if reached > rounds || missed > rounds/5 {
			t.Errorf("%s: in %d times %d unrelated turns reach it, and %d times no related one does", name, rounds, reached, missed)
		}
	}
}

func TestFloorOfFew(t *testing.T) {
	same := func(n int, cosine float32) (list []float32) {
		for range n {
			list = append(list, cosine)
		}
		return list
	}
	for name, c := range map[string]struct {
		sample []float32
		want   float32
	}{
		"none":       {nil, fewFloor},
		"few":        {same(fewSampled-1, 0.9), fewFloor},
		"one thing":  {same(fewSampled, 0.9), topFloor},
		"other ones": {same(fewSampled, 0), 0.0694}, // 0.02 * (0.2533 + (1 + 1/sqrt 3) * sqrt(2 ln 8))
	} {
		if got := floorOf(c.sample, len(c.sample)); got < c.want-0.001 || got > c.want+0.001 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestRelated(t *testing.T) {
	list := []scored{{11, 1, 0.9}, {12, 2, 0.5}, {13, 3, 0.4}, {14, 4, 0.1}, {15, 5, -1}}
	if got := related(list, 0.5, []int64{4, 5, 9}); !slices.Equal(got, []int64{1, 2, 4}) {
		t.Errorf("got %v", got)
	}
}

// everyWord is an embedding model in which texts are alike as far as they have words in common, or cat
// and kitten.
func everyWord(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 64)
		for word := range strings.FieldsSeq(strings.ReplaceAll(text, "cat", "kitten")) {
			hash := fnv.New64a()
			fmt.Fprint(hash, word)
			random := rand.New(rand.NewPCG(hash.Sum64(), 1))
			for d := range vectors[i] {
				vectors[i][d] += float32(random.NormFloat64())
			}
		}
	}
	return vectors, nil
}

// TestUnrelatedTurnsAreLeftOut: what is near to a text only because nothing else is nearer. Of few turns
// all are compared, of many a sample tells what is typical.
func TestUnrelatedTurnsAreLeftOut(t *testing.T) {
	for _, turns := range []int{3, 60, 400} {
		s := newSessions(t, t.TempDir())
		s.many(turns, `'word' || i || ' thing' || (i * 7)`, `''`) // each about something else
		kitten := s.turn("ada", "one", "my kitten", "")
		x := open(t, Options{Dir: s.dir, Embed: everyWord, EmbeddingModel: "m"})
		find(t, x, "ada", "two", "cat")
		waitVectors(t, x, "m", 64, turns+1)
		if got := find(t, x, "ada", "two", "cat"); len(got) == 0 || got[0] != kitten {
			t.Errorf("of %d turns: found %v, want %d first", turns, got, kitten)
		}
		found, queries := 0, 25
		for i := range queries {
			found += len(find(t, x, "ada", "two", fmt.Sprint("other", i)))
		}
		t.Logf("of %d turns %d queries that none has to do with bring %d", turns, queries, found)
		if found > queries/2 {
			t.Errorf("of %d turns %d queries that none has to do with bring %d", turns, queries, found)
		}
	}
}
