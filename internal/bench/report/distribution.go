package report

import (
	"math"
	"slices"

	"sluice/internal/bench/latency"
)

// The bars of a distribution are a quarter of a doubling wide, so that a label at every eighth stands
// for four times the one before.
const (
	barsPerDoubling = 4
	barsPerLabel    = 8
)

// distribution returns the bars in percent with their labels, filled up so that the axis begins and
// ends at a power of four microseconds. The last label would not fit beside the one before.
func distribution(bars []latency.Bar) (labels []string, values []float64) {
	if len(bars) == 0 {
		return nil, nil
	}
	total := int64(0)
	for _, bar := range bars {
		total += bar.Count
	}
	first := barsPerLabel * int(math.Floor(float64(position(bars[0]))/barsPerLabel))
	last := barsPerLabel * int(math.Ceil(float64(position(bars[len(bars)-1]))/barsPerLabel))
	for at := first; at <= last; at++ {
		labels = append(labels, microseconds(math.Exp2(float64(at)/barsPerDoubling)))
	}
	labels[len(labels)-1] = ""
	values = slices.Repeat([]float64{math.NaN()}, len(labels))
	for _, bar := range bars {
		if bar.Count == 0 {
			continue // a bar of no height is a stroke
		}
		values[position(bar)-first] = 100 * float64(bar.Count) / float64(max(1, total))
	}
	return labels, values
}

// position is where a bar stands on the axis; what took less than a microsecond stands before 1 us.
func position(bar latency.Bar) int {
	if bar.From <= 0 {
		return -1
	}
	return int(math.Round(barsPerDoubling * math.Log2(bar.From)))
}
