// Package report tells a person what benchmark runs came to: as a table, as JSON and as one HTML file
// with charts that loads nothing from elsewhere.
//
// Nothing here runs in a goroutine of its own or holds anything that has to be closed. A Report
// belongs to one goroutine.
package report

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
)

// Format is the version of the JSON form; a change that a reader of it could notice raises it.
const Format = 1

// Report is everything that is told of a benchmark.
type Report struct {
	Format      int       `json:"format"`
	Engine      string    `json:"engine"` // version
	Machine     Machine   `json:"machine"`
	Started     time.Time `json:"started"`
	Server      string    `json:"server"` // BuiltIn, or the URL of a server of the user's own
	Setting     Setting   `json:"setting"`
	Runs        []*Run    `json:"runs"`
	Interrupted bool      `json:"interrupted"` // not all runs were made, or not to their end
}

// BuiltIn is the name of the load server.
const BuiltIn = "built-in load server"

// Setting is what all runs have in common.
type Setting struct {
	Tokens          int     `json:"tokens,omitempty"`           // of each stream; 0 for as many as there was time for
	Rate            float64 `json:"rate"`                       // tokens per second of each stream, 0 for as fast as they are read
	DurationSeconds float64 `json:"duration_seconds,omitempty"` // at most, of each run; 0 is without a bound
	SlowSeconds     float64 `json:"slow_seconds"`               // how long a slow reader stays slow
	Streams         int     `json:"streams"`
	Policy          string  `json:"policy"`
	SocketPair      bool    `json:"socket_pair"`
}

// Run is one run with its result, which is partial where the run was cut and nil where it failed.
type Run struct {
	Label string `json:"label"` // unique within a report
	// Cut tells why a run has not seen its end; empty when it has.
	Cut   string `json:"cut,omitempty"`
	Error string `json:"error,omitempty"`
	// BeyondBound says that more text was sent than the engine lets wait for a reader, so that it may
	// drop some of it.
	BeyondBound bool `json:"beyond_bound,omitempty"`
	// StreamTimes are the stream times, in seconds, of all rounds: of this run and of shorter ones that
	// were interleaved with those of the others, which are told nowhere else.
	StreamTimes []float64 `json:"stream_times_s,omitempty"`
	// Result's members stand beside these.
	*measure.Result
}

// Failed reports whether a run went wrong or lost text that it was to keep.
func (r *Run) Failed() bool {
	return r.Error != "" || r.Result != nil && r.Lost > 0 && r.Policy != "drop" && !r.BeyondBound
}

// Compare tells every run how the median of its stream times is against that of a fast reader, where
// there was one at its rate.
func (r *Report) Compare() {
	for _, run := range r.measured() {
		run.OfFast = 0
		if fast := r.fast(run); fast != nil && run.whole() {
			run.OfFast = run.streamSeconds() / fast.streamSeconds()
		}
	}
}

// fast returns the run that another is compared with, nil when there is none.
func (r *Report) fast(other *Run) *Run {
	for _, run := range r.measured() {
		if run.whole() && run.Reader == host.ReaderFast && run.Rate == other.Rate && run.streamSeconds() > 0 {
			return run
		}
	}
	return nil
}

// streamSeconds is the median of the stream times, 0 where none is known.
func (r *Run) streamSeconds() float64 { return middle(r.StreamTimes) }

// middle returns the median, 0 of nothing.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (r *Run) whole() bool { return r.Result != nil && r.Cut == "" && r.Error == "" }

// EventsPerSecond is how many tokens a second the server could send, 0 where that isn't known. Where
// only the receipt is seen, it is how many came.
func (r *Run) EventsPerSecond() float64 {
	if r.streamSeconds() > 0 {
		return float64(r.Sent) / r.streamSeconds()
	}
	return r.Result.EventsPerSecond
}

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
