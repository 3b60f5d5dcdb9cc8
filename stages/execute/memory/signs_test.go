package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSignsKeepTheNearest compares with an exact search, on vectors that lie in clusters as those of
// texts do.
func TestSignsKeepTheNearest(t *testing.T) {
	const turns, queries, dimensions, top = 20_000, 10, 384, 10
	random := rand.New(rand.NewPCG(1, 2))
	near := func(center []float32, spread float64) []float32 {
		v := make([]float32, dimensions)
		for i := range v {
			v[i] = center[i] + float32(random.NormFloat64()*spread)
		}
		return normalise(v)
	}
	origin := make([]float32, dimensions)
	var centers [][]float32
	for range 100 {
		centers = append(centers, near(origin, 1))
	}
	table := &signTable{words: signWords(dimensions), names: map[string]int{}}
	var all [][]float32
	for i := range turns {
		all = append(all, near(centers[random.IntN(len(centers))], 0.05))
		table.add(int64(i+1), "one", encodeSigns(signsOf(all[i])))
	}
	kept := 0
	for range queries {
		query := near(centers[random.IntN(len(centers))], 0.05)
		var exact []scored
		for i, v := range all {
			exact = append(exact, scored{int64(i + 1), int64(i + 1), dot(query, v)})
		}
		ids := table.near(signsOf(query), "two")
		for _, one := range best(exact, top) {
			if slices.Contains(ids, one.turn) {
				kept++
			}
		}
	}
	t.Logf("signs keep %.1f %% of the %d nearest", float64(kept)/queries/top*100, top)
	if kept < queries*top*95/100 {
		t.Errorf("of %d nearest only %d are kept", queries*top, kept)
	}
}
