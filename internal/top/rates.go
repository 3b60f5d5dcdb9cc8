package top

import "time"

// Rates are what happened between two snapshots, a second. The zero value is that of an engine of
// which there is one snapshot only.
type Rates struct {
	Over            time.Duration // of the engine's clock; 0 when nothing is known
	Frames, Bytes   float64
	Batches         float64
	Merged, Dropped float64
	Stalls          [3]float64 // in the order of Causes
	Stages          map[string]StageRate
	Tokens          map[string]float64 // by the id of the stream
}

// StageRate is the work of a stage: items a second, and the share of the time that they took.
type StageRate struct{ Items, Busy float64 }

// Compare returns the rates between two snapshots of one engine. The engine's own clock counts, so
// that a late answer bends nothing; what runs backwards, as after a restart, is unknown.
func Compare(before, after *Snapshot) Rates {
	if before == nil || before.PID != after.PID || after.Uptime <= before.Uptime {
		return Rates{}
	}
	over := after.Uptime - before.Uptime
	each := func(before, after int64) float64 { return float64(max(after-before, 0)) / over.Seconds() }
	r := Rates{
		Over:    over,
		Frames:  each(before.Written.Frames, after.Written.Frames),
		Bytes:   each(before.Written.Bytes, after.Written.Bytes),
		Batches: each(before.Written.Batches, after.Written.Batches),
		Merged:  each(before.Merged, after.Merged),
		Dropped: each(before.Dropped, after.Dropped),
		Stages:  stageRates(before, after, over),
		Tokens:  map[string]float64{},
	}
	for i := range Causes {
		r.Stalls[i] = each(before.Stalls[i].Count, after.Stalls[i].Count)
	}
	tokens := map[string]int64{}
	for _, s := range before.Streams {
		tokens[s.ID] = s.Tokens
	}
	for _, s := range after.Streams {
		earlier := tokens[s.ID]
		if s.Tokens < earlier { // another request under the same id
			earlier = 0
		}
		r.Tokens[s.ID] = each(earlier, s.Tokens)
	}
	return r
}

func stageRates(before, after *Snapshot, over time.Duration) map[string]StageRate {
	earlier := map[string]Stage{}
	for _, g := range before.Stages {
		earlier[g.Name] = g
	}
	rates := map[string]StageRate{}
	for _, g := range after.Stages {
		items, busy := g.Count-earlier[g.Name].Count, g.Busy-earlier[g.Name].Busy
		if items < 0 || busy < 0 {
			continue
		}
		rates[g.Name] = StageRate{Items: float64(items) / over.Seconds(), Busy: busy.Seconds() / over.Seconds()}
	}
	return rates
}

// window is the time over which rates are taken: shorter, and they jump; longer, and they lag.
const window = time.Second

// history keeps the snapshots of the last window, the oldest first.
type history []*Snapshot

// add appends a snapshot and lets go of those that are no longer needed for the window. One that
// doesn't follow the others begins a new history.
func (h history) add(s *Snapshot) history {
	if len(h) > 0 && (h.last().PID != s.PID || s.Uptime < h.last().Uptime) {
		h = nil
	}
	h = append(h, s)
	for len(h) > 2 && s.Uptime-h[1].Uptime >= window {
		h = h[1:]
	}
	return h
}

// last returns the latest snapshot, nil when there is none.
func (h history) last() *Snapshot {
	if len(h) == 0 {
		return nil
	}
	return h[len(h)-1]
}

// rates compares the oldest with the latest.
func (h history) rates() Rates {
	if len(h) < 2 {
		return Rates{}
	}
	return Compare(h[0], h.last())
}
