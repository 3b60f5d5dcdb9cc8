// Package latency counts how long things took and tells the percentiles.
//
// A Histogram belongs to one goroutine until it is read. It holds nothing that has to be closed.
package latency

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest = int64(10 * 60 * 1e9) // nanoseconds; what took longer counts as this
	digits  = 3                    // of a value are exact
)

// Histogram counts durations of up to ten minutes with an error of at most a thousandth. It has a
// fixed size of about 250 KiB.
type Histogram struct {
	counts *hdrhistogram.Histogram
}

// New returns an empty Histogram.
func New() *Histogram { return &Histogram{counts: hdrhistogram.New(1, longest, digits)} }

// Record counts a duration in nanoseconds. Less than nothing, as clocks that were set can make it,
// counts as nothing.
func (h *Histogram) Record(nanoseconds int64) {
	// within its bounds a histogram takes every value
	_ = h.counts.RecordValue(min(max(nanoseconds, 0), longest))
}

// Count returns how many durations were counted.
func (h *Histogram) Count() int64 { return h.counts.TotalCount() }

// Microseconds returns the duration that the given fraction, between 0 and 1, doesn't exceed; 0 when
// nothing was counted.
func (h *Histogram) Microseconds(fraction float64) float64 {
	return float64(h.counts.ValueAtPercentile(100*fraction)) / 1e3
}

// Summary is what a person wants to know of a Histogram, in microseconds.
type Summary struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99_9_us"`
	Max   float64 `json:"max_us"`
}

// Summary returns the percentiles of what was counted.
func (h *Histogram) Summary() Summary {
	return Summary{
		Count: h.Count(),
		P50:   h.Microseconds(0.5),
		P90:   h.Microseconds(0.9),
		P99:   h.Microseconds(0.99),
		P999:  h.Microseconds(0.999),
		Max:   float64(h.counts.Max()) / 1e3,
	}
}

// Bar is how many durations lie between two of them, in microseconds.
type Bar struct {
	From  float64 `json:"from_us"`
	To    float64 `json:"to_us"`
	Count int64   `json:"count"`
}

// barsPerOctave is how many bars a doubling of the duration has: steps of about a fifth.
const barsPerOctave = 4

// Bars returns the distribution on a logarithmic scale, from the shortest to the longest duration.
func (h *Histogram) Bars() []Bar {
	if h.Count() == 0 {
		return nil
	}
	bars := make([]Bar, stepOf(h.counts.Max())+1)
	for step := range bars {
		bars[step] = Bar{From: lowerEdge(step), To: lowerEdge(step + 1)}
	}
	for _, counted := range h.counts.Distribution() {
		bars[min(stepOf(counted.From), len(bars)-1)].Count += counted.Count
	}
	return bars[stepOf(h.counts.Min()):]
}

// stepOf returns the number of the bar that holds a duration in nanoseconds. All of less than a
// microsecond share the first.
func stepOf(nanoseconds int64) int {
	if nanoseconds < 1000 {
		return 0
	}
	return 1 + int(barsPerOctave*math.Log2(float64(nanoseconds)/1e3))
}

// lowerEdge returns where a bar starts, in microseconds.
func lowerEdge(step int) float64 {
	if step == 0 {
		return 0
	}
	return math.Exp2(float64(step-1) / barsPerOctave)
}
