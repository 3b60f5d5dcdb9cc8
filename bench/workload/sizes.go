package workload

import "time"

// Sizes set how much the workloads do; zero values mean those of the published figures.
type Sizes struct {
	Tokens     int           // of W1
	Rates      []float64     // tokens per second of W2
	Paced      time.Duration // how long the streams of W2 and W4 last
	SlowTokens int           // of W3
	Stall      time.Duration // for which W3's readers are slow
	Chats      []int         // at once in W4
	ChatTokens int           // of all unpaced chats of W4 together
	Lines      int           // of W6
	Spawns     int           // processes started by W5
	Pings      int           // round trips of W5
	Pipelined  int           // pings sent without waiting by W5
}

func (s Sizes) withDefaults() Sizes {
	if s.Tokens == 0 {
		s.Tokens = 4_000_000
	}
	if s.Rates == nil {
		s.Rates = []float64{100, 1000, 10_000}
	}
	if s.Paced == 0 {
		s.Paced = 5 * time.Second
	}
	if s.SlowTokens == 0 {
		s.SlowTokens = 2_000_000
	}
	if s.Stall == 0 {
		s.Stall = 10 * time.Second
	}
	if s.Chats == nil {
		s.Chats = []int{1, 8, 64, 512}
	}
	if s.ChatTokens == 0 {
		s.ChatTokens = 4_000_000
	}
	if s.Lines == 0 {
		s.Lines = 4_000_000
	}
	if s.Spawns == 0 {
		s.Spawns = 20
	}
	if s.Pings == 0 {
		s.Pings = 2000
	}
	if s.Pipelined == 0 {
		s.Pipelined = 100_000
	}
	return s
}

// All returns the workloads in their order.
func All(sizes Sizes) []Workload {
	sizes = sizes.withDefaults()
	workloads := []Workload{throughputWorkload(sizes)}
	for _, rate := range sizes.Rates {
		workloads = append(workloads, latencyWorkload(sizes, rate))
	}
	workloads = append(workloads, readersWorkload(sizes, false), readersWorkload(sizes, true))
	for _, count := range sizes.Chats {
		workloads = append(workloads, chatsWorkload(sizes, count))
	}
	return append(workloads, requestsWorkload(sizes), sinkWorkload(sizes, 1), sinkWorkload(sizes, 8))
}
