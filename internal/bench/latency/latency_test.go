package latency

import (
	"math"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercentilesAreThoseOfTheValues(t *testing.T) {
	h := New()
	for value := int64(1); value <= 1000; value++ {
		h.Record(value * 1_000_000)
	}
	for fraction, want := range map[float64]float64{0.001: 1e3, 0.5: 500e3, 0.99: 990e3, 0.999: 999e3, 1: 1000e3} {
		if got := h.Microseconds(fraction); math.Abs(got-want) > want/1000 {
			t.Errorf("Microseconds(%v) = %v, want %v", fraction, got, want)
		}
	}
	summary := h.Summary()
	if summary.Count != 1000 || summary.P50 != h.Microseconds(0.5) || summary.P90 != h.Microseconds(0.9) ||
		summary.P99 != h.Microseconds(0.99) || summary.P999 != h.Microseconds(0.999) || summary.Max < summary.P999 {
		t.Errorf("the summary is %+v", summary)
	}
}

func TestValuesBeyondTheBoundsCount(t *testing.T) {
	h := New()
	for _, value := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		h.Record(value)
	}
	if h.Count() != 4 || h.Microseconds(0.5) != 0 || h.Microseconds(1) < 599e6 {
		t.Errorf("%+v", h.Summary())
	}
}

func TestNothingHasNoLatency(t *testing.T) {
	if h := New(); h.Summary() != (Summary{}) || h.Bars() != nil {
		t.Errorf("%+v, %v", h.Summary(), h.Bars())
	}
}

func TestBarsHoldEveryValueOnce(t *testing.T) {
	h := New()
	for _, value := range []int64{0, 400, 999, 1000, 1300, 55_555, 1_000_000, 1_000_001, 30_000_000_000} {
		h.Record(value)
	}
	bars, count := h.Bars(), int64(0)
	for i, bar := range bars {
		count += bar.Count
		if bar.From >= bar.To || i > 0 && bar.From != bars[i-1].To {
			t.Errorf("bar %d reaches from %v to %v", i, bar.From, bar.To)
		}
	}
	if first, last := bars[0], bars[len(bars)-1]; count != 9 || first.Count != 3 || first.To != 1 || last.Count != 1 {
		t.Errorf("%d values in %v", count, bars)
	}
}
