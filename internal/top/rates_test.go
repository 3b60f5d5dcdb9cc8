package top

import (
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	before, after := busy()
	r := Compare(before.snapshot(t), after.snapshot(t))
	if r.Over != time.Second || r.Frames != 12_340 || r.Bytes != 2<<20 || r.Batches != 145 || r.Merged != 1_203 || r.Dropped != 2 || r.Stalls != [3]float64{1, 0, 0} {
		t.Errorf("got %+v", r)
	}
	if got := r.Stages["parse"]; got.Items != 4_321 || got.Busy < 0.007 || got.Busy > 0.009 {
		t.Errorf("parse is %+v", got)
	}
	if r.Tokens["7"] != 512 || r.Tokens["chat-2"] != 100 || r.Tokens[`"7"`] != 0 {
		t.Errorf("the streams are %v", r.Tokens)
	}
}

// A stream that began between the snapshots starts from nothing, also when its id was used before.
func TestCompareYoungStreams(t *testing.T) {
	before := counters{"chats": []any{chat("again", "running", 5_000, 100)}}.snapshot(t)
	after := counters{"uptime_ms": 62_000, "chats": []any{chat("again", "running", 500, 20), chat("new", "running", 1_000, 30), chat("now", "queued", 0, 0)}}.snapshot(t)
	r := Compare(before, after)
	if r.Tokens["again"] != 10 || r.Tokens["new"] != 15 || r.Tokens["now"] != 0 {
		t.Errorf("the streams are %v", r.Tokens)
	}
}

func TestCompareKnowsNothingOfOthers(t *testing.T) {
	now := counters{}.snapshot(t)
	for name, before := range map[string]*Snapshot{
		"nothing":        nil,
		"the same":       now,
		"a later one":    counters{"uptime_ms": 70_000}.snapshot(t),
		"another engine": counters{"uptime_ms": 50_000, "pid": 1}.snapshot(t),
	} {
		if r := Compare(before, now); r.Over != 0 || r.Stages != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Rates are taken over the last window: neither over one jump nor over all time.
func TestHistory(t *testing.T) {
	at := func(ms, pid int) *Snapshot { return counters{"uptime_ms": ms, "pid": pid}.snapshot(t) }
	var h history
	if h.last() != nil || h.rates().Over != 0 {
		t.Errorf("nothing has a past: %+v", h.rates())
	}
	for _, c := range []struct {
		ms, pid int
		over    time.Duration
	}{
		{1000, 1, 0}, {1500, 1, 500 * time.Millisecond}, {2000, 1, time.Second}, {2500, 1, time.Second}, {3000, 1, time.Second},
		{9000, 1, 6 * time.Second}, {9500, 1, 6500 * time.Millisecond}, {10_000, 1, time.Second}, {500, 1, 0}, {1000, 2, 0}, {1500, 2, 500 * time.Millisecond},
	} {
		if h = h.add(at(c.ms, c.pid)); h.rates().Over != c.over {
			t.Errorf("at %d ms of %d: over %v, want %v", c.ms, c.pid, h.rates().Over, c.over)
		}
	}
}
