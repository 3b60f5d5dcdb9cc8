package stdout

import (
	"time"

	"sluice/internal/wire"
)

// Stats is what the sink counted since the start.
type Stats struct {
	Queue   wire.QueueStats
	Written wire.WrittenStats
	// Sent counts event lines handed to the output, Merged and Dropped those that were not.
	Sent, Merged, Dropped int64
	// Stalls counts the writes that took at least the stall threshold, the one under way included.
	Stalls wire.StallStats
}

// Stats returns the counters of this moment.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Queue:   wire.QueueStats{Frames: s.frames, Bytes: s.events + s.guaranteed, MaxFrames: s.maxFrames, MaxBytes: s.maxBytes},
		Written: wire.WrittenStats{Frames: s.wroteFrames, Bytes: s.wroteBytes.Load(), Batches: s.wroteBatches},
		Sent:    s.sent,
		Merged:  s.merged,
		Dropped: s.dropped,
		Stalls:  s.stallsLocked(),
	}
}

// stallsLocked returns the stalls with the write under way counted in.
func (s *Sink) stallsLocked() wire.StallStats {
	stalls := s.stalls
	if s.writing.IsZero() {
		return stalls
	}
	if took := time.Since(s.writing); took >= s.options.StallThreshold {
		stalls.Count++
		stalls.Time += took
	}
	return stalls
}
