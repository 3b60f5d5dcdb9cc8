package memory

import (
	"cmp"
	"slices"
)

// fusionConstant is k of reciprocal rank fusion, as found best by Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
const fusionConstant = 60

// fuse merges rankings: each gives a turn 1/(k+rank), ranks counted from 1. Of equal sums the newer
// turn comes first.
func fuse(rankings ...[]int64) []int64 {
	scores := map[int64]float64{}
	var turns []int64
	for _, ranking := range rankings {
		for i, turn := range ranking {
			if _, known := scores[turn]; !known {
				turns = append(turns, turn)
			}
			scores[turn] += 1 / float64(fusionConstant+i+1)
		}
	}
	slices.SortFunc(turns, func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
	})
	return turns
}
