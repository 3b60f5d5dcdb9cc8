package top

import (
	"encoding/json"
	"errors"
	"time"
)

// Snapshot is what an engine told about itself at one moment: the result of the method stats, and
// what the debug server adds to it. Its texts are fit for a terminal.
type Snapshot struct {
	Version string
	PID     int
	Uptime  time.Duration

	Queue           Queue
	Bounds          Bounds
	Written         Written
	Merged, Dropped int64
	Stalls          [3]Stalled // in the order of Causes
	Stages          []Stage
	Streams         []Stream
	Recent          []Stall // the latest first
}

// Causes are what a moment of a chat can be spent waiting for.
var Causes = [3]string{"reader", "upstream", "engine"}

// Queue is what waits for the reader of stdout, and the most that ever did.
type Queue struct {
	Frames    int64 `json:"frames"`
	Bytes     int64 `json:"bytes"`
	MaxFrames int64 `json:"max_frames"`
	MaxBytes  int64 `json:"max_bytes"`
}

// Bounds are the configured limits of the queue; 0 is one that wasn't told.
type Bounds struct {
	PendingBytes    int64 `json:"pending_bytes"`
	GuaranteedBytes int64 `json:"guaranteed_bytes"`
	QueueFrames     int64 `json:"queue_frames"`
}

// Written counts what was handed to stdout; a batch is one write call.
type Written struct {
	Frames  int64 `json:"frames"`
	Bytes   int64 `json:"bytes"`
	Batches int64 `json:"batches"`
}

// Stalled counts the stalls of one cause and their time.
type Stalled struct {
	Count int64
	Time  time.Duration
}

// Stage counts what a stage handled and the time that it took.
type Stage struct {
	Name  string
	Count int64
	Busy  time.Duration
}

// Stream is one chat that has not ended; Age counts from its arrival.
type Stream struct {
	ID, State string
	Age       time.Duration
	Tokens    int64
}

// Stall is one stall that is over.
type Stall struct {
	Cause      string
	Time       time.Duration
	At         time.Time // zero when it wasn't told
	Request    string    // empty when it is no single request's
	QueueBytes int64
}

// errForeign says that an answer is no engine's.
var errForeign = errors.New("no engine's counters")

// answer is the JSON of a snapshot. Pointers tell apart what an engine always sends.
type answer struct {
	Version string                   `json:"version"`
	PID     int                      `json:"pid"`
	Uptime  *float64                 `json:"uptime_ms"`
	Queue   *Queue                   `json:"queue"`
	Bounds  Bounds                   `json:"bounds"`
	Written *Written                 `json:"written"`
	Merged  int64                    `json:"merged"`
	Dropped int64                    `json:"dropped"`
	Stalls  map[string]stalledAnswer `json:"stalls"`
	Stages  []stageAnswer            `json:"stages"`
	Chats   []chatAnswer             `json:"chats"`
	Recent  []stallAnswer            `json:"recent_stalls"`
}

type stalledAnswer struct {
	Count int64   `json:"count"`
	Time  float64 `json:"ms"`
}

type stageAnswer struct {
	Name  string  `json:"name"`
	Count int64   `json:"count"`
	Busy  float64 `json:"busy_ms"`
}

type chatAnswer struct {
	ID     json.RawMessage `json:"id"`
	State  string          `json:"state"`
	Since  float64         `json:"since_ms"`
	Tokens int64           `json:"tokens"`
}

type stallAnswer struct {
	Cause      string          `json:"cause"`
	Time       float64         `json:"ms"`
	At         time.Time       `json:"at"`
	Request    json.RawMessage `json:"request"`
	QueueBytes int64           `json:"queue_bytes"`
}

// ParseSnapshot reads the debug server's /stats. What no engine would say is an error; members that
// aren't known are passed over.
func ParseSnapshot(text []byte) (*Snapshot, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Uptime == nil || a.Queue == nil || a.Written == nil {
		return nil, errForeign
	}
	s := &Snapshot{
		Version: printable(a.Version), PID: a.PID, Uptime: milliseconds(*a.Uptime),
		Queue: *a.Queue, Bounds: a.Bounds, Written: *a.Written, Merged: a.Merged, Dropped: a.Dropped,
	}
	for i, cause := range Causes {
		s.Stalls[i] = Stalled{a.Stalls[cause].Count, milliseconds(a.Stalls[cause].Time)}
	}
	for _, g := range a.Stages {
		s.Stages = append(s.Stages, Stage{printable(g.Name), g.Count, milliseconds(g.Busy)})
	}
	for _, c := range a.Chats {
		s.Streams = append(s.Streams, Stream{identifier(c.ID), printable(c.State), milliseconds(c.Since), c.Tokens})
	}
	for _, r := range a.Recent {
		s.Recent = append(s.Recent, Stall{printable(r.Cause), milliseconds(r.Time), r.At, identifier(r.Request), r.QueueBytes})
	}
	latestFirst(s.Recent)
	return s, nil
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
