package measure

import (
	"cmp"
	"math"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
)

// Result is what a run came to, of all its streams together. A token is an event of the engine's own
// before merging.
type Result struct {
	Reader     string  `json:"reader"`
	SocketPair bool    `json:"socket_pair"`
	Policy     string  `json:"policy,omitempty"`
	Streams    int     `json:"streams"`
	Rate       float64 `json:"rate,omitempty"` // tokens per second of each stream that were asked for

	Sent   int `json:"sent"`   // tokens that the server sent
	Tokens int `json:"tokens"` // received
	Lost   int `json:"lost"`   // sent and not received, though the reader was there
	Lines  int `json:"lines"`
	Bytes  int `json:"bytes"`

	Seconds float64 `json:"seconds"` // from the request to the receipt of the last final line
	// StreamSeconds are those from the first to the last token that the load server sent, 0 where a
	// server of the user's own sent them.
	StreamSeconds float64 `json:"stream_seconds"`
	// OfFast is StreamSeconds over those of a fast reader in the same round, 0 where there was none.
	OfFast float64 `json:"of_fast,omitempty"`
	// SlowestToFastest is the rate of the slowest stream over that of the fastest: tokens received
	// over the time from the request, the same for all, to the receipt of the stream's final line.
	SlowestToFastest float64 `json:"slowest_to_fastest"`

	EventsPerSecond float64 `json:"events_per_second"`
	LinesPerSecond  float64 `json:"lines_per_second"`
	BytesPerSecond  float64 `json:"bytes_per_second"`

	// CPU and memory are 0 on systems that don't tell them of another process that runs.
	CPUSeconds           float64 `json:"cpu_seconds"`
	CPUSecondsPerMillion float64 `json:"cpu_seconds_per_million_events"`
	PeakRSS              int64   `json:"peak_rss_bytes"`
	BytesPerStream       int64   `json:"bytes_per_stream"` // by which the memory grew at most

	Latency   *latency.Summary `json:"latency,omitempty"` // from sending to receipt; nil without a rate
	Latencies []latency.Bar    `json:"latencies,omitempty"`
	Engine    *Counters        `json:"engine,omitempty"` // nil for other programs and where the reader went away
	Samples   []Sample         `json:"samples,omitempty"`
}

// moment is what a run noted at its begin and its end. Times are clock.Now.
type moment struct {
	begun, ended  int64
	before, after host.Usage
	samples       []Sample
}

func newResult(l Load, m moment, reports []*verify.Report, sent map[string]load.StreamStats, latencies *latency.Histogram) *Result {
	r := &Result{
		Reader: cmp.Or(l.Reader.Reader, host.ReaderFast), SocketPair: l.SocketPair, Policy: l.Policy,
		Streams: l.Streams, Rate: l.Rate, Samples: m.samples,
	}
	r.addReports(reports)
	r.addSent(sent)
	r.addTimes(m, reports)
	r.addUsage(m)
	if latencies != nil {
		summary := latencies.Summary()
		r.Latency, r.Latencies = &summary, latencies.Bars()
	}
	return r
}

func (r *Result) addReports(reports []*verify.Report) {
	for _, report := range reports {
		r.Tokens += report.Tokens
		r.Lost += report.Lost
		r.Lines += report.Lines
		r.Bytes += report.Bytes
	}
}

// addSent takes the account of the load server; without one, what was received is all that is known.
func (r *Result) addSent(sent map[string]load.StreamStats) {
	r.Sent = r.Tokens
	if len(sent) == 0 {
		return
	}
	r.Sent = 0
	first, last := int64(math.MaxInt64), int64(0)
	for _, stream := range sent {
		r.Sent += stream.Tokens
		first, last = min(first, stream.FirstAt), max(last, stream.LastAt)
	}
	r.StreamSeconds = seconds(last - first)
}

func (r *Result) addTimes(m moment, reports []*verify.Report) {
	end, slowest, fastest := int64(0), 0.0, 0.0
	for _, report := range reports {
		end = max(end, report.FinalAt)
		rate := float64(report.Tokens) / float64(max(1, report.FinalAt-m.begun))
		fastest = max(fastest, rate)
		if slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	if fastest > 0 {
		r.SlowestToFastest = slowest / fastest
	}
	r.Seconds = seconds(cmp.Or(end, m.ended) - m.begun)
	r.EventsPerSecond = float64(r.Sent) / r.Seconds
	r.LinesPerSecond = float64(r.Lines) / r.Seconds
	r.BytesPerSecond = float64(r.Bytes) / r.Seconds
}

func (r *Result) addUsage(m moment) {
	r.CPUSeconds = (m.after.CPU - m.before.CPU).Seconds()
	if r.Sent > 0 {
		r.CPUSecondsPerMillion = r.CPUSeconds / float64(r.Sent) * 1e6
	}
	r.PeakRSS = m.after.PeakRSS
	r.BytesPerStream = max(0, m.after.PeakRSS-m.before.RSS) / int64(r.Streams)
}

// LinesPerWrite is how many frames the engine wrote with one call, 0 where that isn't known.
func (r *Result) LinesPerWrite() float64 {
	if r.Engine == nil || r.Engine.Writes == 0 {
		return 0
	}
	return float64(r.Engine.Frames) / float64(r.Engine.Writes)
}

// Compare sets OfFast from the run of a fast reader in the same round.
func (r *Result) Compare(fast *Result) {
	if fast.StreamSeconds > 0 {
		r.OfFast = r.StreamSeconds / fast.StreamSeconds
	}
}

func seconds(nanoseconds int64) float64 { return time.Duration(nanoseconds).Seconds() }
