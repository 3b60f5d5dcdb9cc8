package demo

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sampler draws tokens from a model at one temperature. It belongs to one goroutine.
type Sampler struct {
	model       *Model
	temperature float64
	random      *rand.Rand
	cumulative  map[Token][]float64 // of tempered weights, by the token before; filled when first needed
}

// NewSampler returns a sampler that takes its luck from random. Temperature 1
// draws by the counts; lower ones favour what is frequent, and at 0 or below the
// most frequent follower (of equals, the first) is taken always.
func (m *Model) NewSampler(temperature float64, random *rand.Rand) *Sampler {
	return &Sampler{model: m, temperature: temperature, random: random, cumulative: map[Token][]float64{}}
}

// Next draws the token after prev. Where nothing ever followed, the answer ends.
func (s *Sampler) Next(prev Token) Token {
	row := &s.model.rows[prev]
	if len(row.next) == 0 {
		return endToken
	}
	if s.temperature <= 0 {
		return row.next[slices.Index(row.weights, slices.Max(row.weights))]
	}
	sums := s.sums(prev, row)
	point := s.random.Float64() * sums[len(sums)-1]
	at, exact := slices.BinarySearch(sums, point)
	if exact {
		at++ // a weight's interval includes its start, not its end
	}
	return row.next[min(at, len(row.next)-1)]
}

// Next draws the token after prev by the counts alone (temperature 1).
func (m *Model) Next(prev Token, random *rand.Rand) Token {
	return m.NewSampler(1, random).Next(prev)
}

func (s *Sampler) sums(prev Token, row *row) []float64 {
	if sums, ok := s.cumulative[prev]; ok {
		return sums
	}
	sums, sum := make([]float64, len(row.weights)), 0.0
	highest := float64(slices.Max(row.weights)) // relative weights can't overflow at low temperatures
	for i, weight := range row.weights {
		sum += math.Pow(float64(weight)/highest, 1/s.temperature)
		sums[i] = sum
	}
	s.cumulative[prev] = sums
	return sums
}
