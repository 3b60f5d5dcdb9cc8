package memory

import (
	"math"
	"slices"
)

const (
	// sampled is how many of a user's vectors tell what cosine is typical: 400 KB at 384 dimensions.
	sampled = 256
	// fewSampled is how many are too few for that; then a cosine counts from fewFloor on, which with
	// most models texts that have nothing in common don't reach.
	fewSampled = 8
	fewFloor   = 0.6
	// topFloor counts whatever is typical: where all of a user's turns are about one thing, say.
	topFloor = 0.85
	// leastDeviation stands in for the standard deviation of turns that are alike by chance.
	leastDeviation = 0.02
)

// The lower end of a normal distribution, in standard deviations below its mean: where the first 40 of
// a hundred end, and what their mean is.
const (
	lowShare = 40
	lowEnd   = 0.2533
	lowMean  = 0.9659
)

// floorOf returns the cosine from which on a turn has to do with a query, judged by the cosines of a
// sample of all of the user's turns, which is sorted. No fixed cosine could tell: texts about nothing
// in common have 0.1 with some models and 0.8 with others. So it is the cosine that the nearest of so
// many turns would reach if none had to do with the query: of n normally distributed values the highest
// lies about sqrt(2 ln n) standard deviations above the mean. Mean and deviation are told from the
// sample's lower end, where the turns are that have nothing to do with the query; the deviation is
// taken for one standard error (of about 1/sqrt(n) for n values) more than it seems.
func floorOf(sample []float32, turns int) float32 {
	low := len(sample) * lowShare / 100
	if len(sample) < fewSampled {
		return fewFloor
	}
	slices.Sort(sample)
	end, sum := float64(sample[low]), 0.0
	for _, cosine := range sample[:low] {
		sum += float64(cosine)
	}
	deviation := max((end-sum/float64(low))/(lowMean-lowEnd), leastDeviation)
	mean := end + lowEnd*deviation
	deviation *= 1 + 1/math.Sqrt(float64(low))
	return float32(min(mean+deviation*math.Sqrt(2*math.Log(float64(turns))), topFloor))
}

// related returns the turns that have to do with a query: by their cosine, or because words of it were
// found in them.
func related(list []scored, floor float32, byWords []int64) (turns []int64) {
	for _, one := range list {
		if one.cosine >= floor || one.cosine > 0 && slices.Contains(byWords, one.turn) {
			turns = append(turns, one.turn)
		}
	}
	return turns
}
