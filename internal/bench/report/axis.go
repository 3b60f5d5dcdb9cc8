package report

import "math"

// ticks is an axis from 0 on that a person can count along.
type ticks struct {
	size  float64 // from one to the next
	count int     // of them, without the one at 0
}

// top is the value at the end of the axis.
func (t ticks) top() float64 { return t.size * float64(t.count) }

// mostTicks is how many ticks have room for their labels.
const mostTicks = 5

// niceTicks returns up to mostTicks ticks of 1, 2 or 5 times a power of ten that reach the largest
// value.
func niceTicks(largest float64) ticks {
	if !(largest > 0) {
		return ticks{1, 1}
	}
	least := largest / mostTicks * (1 - 1e-9)
	size := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if size*factor >= least {
			size *= factor
			break
		}
	}
	return ticks{size, max(1, int(math.Ceil(largest/size*(1-1e-9))))}
}

// stepsPerTick is how fine a chart over time is.
const stepsPerTick = 20

// step is the time between two points of a chart over time.
func (t ticks) step() float64 { return t.size / stepsPerTick }

// steps is how many points such a chart has after the one at 0.
func (t ticks) steps() int { return t.count * stepsPerTick }
