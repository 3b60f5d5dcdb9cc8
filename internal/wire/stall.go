package wire

import "time"

// Cause says what a stream waited for.
type Cause string

// The causes of stalls.
const (
	CauseReader   Cause = "reader"   // stdout was not read
	CauseUpstream Cause = "upstream" // the model server sent nothing
	CauseEngine   Cause = "engine"   // we took our time
)

// Stall is a pause of at least output.stall_threshold that has ended.
type Stall struct {
	Cause Cause
	Took  time.Duration
	Ended time.Time
	// Request is whose frames waited; the empty ID when they were of requests without events.
	Request ID
	// Frames and Bytes are what waited in the sink at the end, in flight included.
	Frames, Bytes int64
}
