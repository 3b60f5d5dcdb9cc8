package report

import (
	"math"
	"slices"

	"sluice/internal/bench/measure"
)

// timeline is what a run did at even steps, from 0 on.
type timeline struct {
	sentRate     []float64 // tokens per second; NaN after the last token was sent
	receivedRate []float64 // the same of what was received; NaN after the end
	waiting      []float64 // tokens that were sent and not yet received; NaN after the end
}

// rateSamples is over how many samples a rate is taken, since one alone tells as much of when it came.
const rateSamples = 2

// newTimeline interpolates between the samples of a run.
func newTimeline(r *measure.Result, axis ticks) timeline {
	var sent, received, waiting curve
	samples := append([]measure.Sample{{}}, r.Samples...)
	for index, sample := range samples {
		waiting.add(sample.Seconds, float64(max(0, sample.Sent-sample.Received)))
		before := samples[max(0, index-rateSamples)]
		length := sample.Seconds - before.Seconds
		if length <= 0 {
			continue
		}
		middle := before.Seconds + length/2
		received.add(middle, float64(sample.Received-before.Received)/length)
		if sample.Sent < int64(r.Sent) || before.Sent == 0 { // else the stream ended before the sample
			sent.add(middle, float64(sample.Sent-before.Sent)/length)
		}
	}
	if last := samples[len(samples)-1]; r.Seconds > last.Seconds {
		waiting.add(r.Seconds, float64(max(0, r.Sent-r.Tokens-r.Lost)))
	}
	return timeline{sent.points(axis), received.points(axis), waiting.points(axis)}
}

// curve is a line through points whose times grow.
type curve struct {
	times, values []float64
}

func (c *curve) add(time, value float64) {
	c.times, c.values = append(c.times, time), append(c.values, value)
}

// points returns the line at even steps from 0 on: before its first point it is level, and after its
// last point there is nothing, which is NaN.
func (c *curve) points(axis ticks) []float64 {
	points := make([]float64, axis.steps()+1)
	for index := range points {
		points[index] = c.at(float64(index)*axis.step(), axis.step())
	}
	return points
}

// at returns the value at a time; one that is less than a step after the end is the last.
func (c *curve) at(time, step float64) float64 {
	after, found := slices.BinarySearch(c.times, time)
	switch last := len(c.times) - 1; {
	case last < 0 || time >= c.times[last]+step:
		return math.NaN()
	case after > last:
		return c.values[last]
	case found || after == 0:
		return c.values[after]
	}
	part := (time - c.times[after-1]) / (c.times[after] - c.times[after-1])
	return c.values[after-1] + part*(c.values[after]-c.values[after-1])
}
