package guard

import (
	"strings"
	"time"
)

// Figures that are guarded. Each is a ratio of which less is better; the part before the first
// slash is its group, whose runs are measured together.
const (
	DropTime     = "W1/drop/time"     // time a token, against the peer
	DropCPU      = "W1/drop/cpu"      // CPU time a token, against the peer
	CoalesceTime = "W1/coalesce/time" // the same while tokens may be merged
	CoalesceCPU  = "W1/coalesce/cpu"
	PacedP50     = "W2/1000/p50" // added latency at 1,000 tokens per second, against the peer
	PacedCPU     = "W2/1000/cpu"
	StalledTime  = "W3/stalled/time" // stream time of a stalled reader, against a fast one's
	PingP50      = "W5/ping/p50"     // round trip, against the peer's echo
)

// Figures lists all of them in the order in which they are told.
var Figures = []string{DropTime, DropCPU, CoalesceTime, CoalesceCPU, PacedP50, PacedCPU, StalledTime, PingP50}

// Groups lists the groups of the figures.
var Groups = []string{"W1", "W2", "W3", "W5"}

func groupOf(figure string) string {
	group, _, _ := strings.Cut(figure, "/")
	return group
}

// Reading is one figure of one round.
type Reading struct {
	Figure string
	Ratio  float64
	Value  float64 // the engine's own, in Unit
	Unit   string  // of Go's benchmark format
}

// Sizes set how much a round does. Many short rounds tell more than a few long ones, since what
// disturbs them lasts for a while. A zero value means the default.
type Sizes struct {
	Tokens     int           `json:"tokens"`      // of W1; 0 is 250,000
	Paced      time.Duration `json:"paced_ns"`    // of W2; 0 is 500 ms
	SlowTokens int           `json:"slow_tokens"` // of W3; 0 is 150,000
	Stall      time.Duration `json:"stall_ns"`    // of W3; 0 is 300 ms
	Pings      int           `json:"pings"`       // of W5; 0 is 300
}

func (s Sizes) withDefaults() Sizes {
	defaults := Sizes{250_000, 500 * time.Millisecond, 150_000, 300 * time.Millisecond, 300}
	orDefault(&s.Tokens, defaults.Tokens)
	orDefault(&s.Paced, defaults.Paced)
	orDefault(&s.SlowTokens, defaults.SlowTokens)
	orDefault(&s.Stall, defaults.Stall)
	orDefault(&s.Pings, defaults.Pings)
	return s
}

func orDefault[T int | time.Duration](value *T, byDefault T) {
	if *value == 0 {
		*value = byDefault
	}
}
