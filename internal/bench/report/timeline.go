package report

import (
	"math"

	"sluice/internal/bench/measure"
)

// timelinePoints is how many steps a chart over time has at most.
const timelinePoints = 120

// timeline is what a run did at even steps, from 0 on.
type timeline struct {
	sentRate     []float64 // tokens per second during the step before; NaN after the last token was sent
	receivedRate []float64 // the same of what was received, to the end
	waiting      []float64 // tokens that were sent and not yet received; NaN after the end
}

// step returns the step in seconds that shows the given time with enough points, one that a person
// can count in.
func step(seconds float64) float64 {
	least := max(seconds/timelinePoints, 0.02)
	size := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if size*factor >= least*0.999 {
			return size * factor
		}
	}
	return size * 10
}

// newTimeline interpolates the samples of a run, which needs at least one.
func newTimeline(r *measure.Result, step, seconds float64) timeline {
	samples := append([]measure.Sample{{}}, r.Samples...)
	if last := samples[len(samples)-1]; r.Seconds > last.Seconds {
		samples = append(samples, measure.Sample{Seconds: r.Seconds, Sent: int64(r.Sent), Received: int64(r.Tokens)})
	}
	end := samples[len(samples)-1].Seconds
	var t timeline
	earlierSent, earlierReceived := 0.0, 0.0
	for index := 1; float64(index)*step < seconds+step; index++ {
		at := float64(index) * step
		sent, received := interpolate(samples, at)
		t.sentRate = append(t.sentRate, during(at-step < end && earlierSent < float64(r.Sent), (sent-earlierSent)/step))
		t.receivedRate = append(t.receivedRate, during(at-step < end, (received-earlierReceived)/step))
		t.waiting = append(t.waiting, during(at-step < end, max(0, sent-received)))
		earlierSent, earlierReceived = sent, received
	}
	return t
}

func during(there bool, value float64) float64 {
	if !there {
		return math.NaN()
	}
	return value
}

// interpolate returns how many tokens were sent and received at a time.
func interpolate(samples []measure.Sample, at float64) (sent, received float64) {
	for index, after := range samples {
		if after.Seconds < at {
			continue
		}
		if index == 0 || after.Seconds == at {
			return float64(after.Sent), float64(after.Received)
		}
		before := samples[index-1]
		part := (at - before.Seconds) / (after.Seconds - before.Seconds)
		return between(before.Sent, after.Sent, part), between(before.Received, after.Received, part)
	}
	last := samples[len(samples)-1]
	return float64(last.Sent), float64(last.Received)
}

func between(before, after int64, part float64) float64 {
	return float64(before) + part*float64(after-before)
}
