package report

import (
	"fmt"
	"slices"

	"sluice/internal/bench/host"
)

// Headline is a sentence for everybody and the figures behind it.
type Headline struct {
	Says, Figures string
}

// String returns both as one sentence.
func (h Headline) String() string {
	if h.Figures == "" {
		return h.Says + "."
	}
	return h.Says + ": " + h.Figures + "."
}

// headlineOrder puts first what people ask first.
var headlineOrder = []string{
	host.ReaderStalled, host.ReaderThrottled, host.ReaderTrickle, host.ReaderBursty, host.ReaderClosed, host.ReaderFast,
}

// Headlines say in plain words what the runs came to: what the slow readers cost, then how fast the
// engine is, then what went wrong.
func (r *Report) Headlines() (lines []Headline) {
	for _, reader := range headlineOrder {
		for _, run := range r.measured() {
			switch {
			case run.Reader != reader || run.Cut != "":
			case reader == host.ReaderFast:
				lines = append(lines, r.fastHeadline(run))
			default:
				lines = append(lines, r.slowHeadline(run))
			}
		}
	}
	for _, run := range r.Runs {
		if run.Error != "" {
			lines = append(lines, Headline{"The run " + run.Label + " failed", run.Error})
		}
	}
	if len(lines) == 0 {
		return []Headline{{Says: "No run came to its end"}}
	}
	return lines
}

func (r *Report) slowHeadline(run *Run) Headline {
	who := "A reader that " + r.behaviour(run)
	fast := r.fast(run)
	if fast == nil {
		return Headline{who + " had " + counted(run.Tokens, r.unit()) + " after " + span(run.Seconds) + ", " + fate(run), streamed(run)}
	}
	cost := percent(run.OfFast)
	if run.OfFast > 1 && run.streamSeconds() <= slices.Max(fast.StreamTimes) {
		cost = "0 % within this machine's noise"
	}
	return Headline{who + " cost the model " + cost + ", " + fate(run), streamed(run) + ", with a fast reader " + times(fast)}
}

func streamed(run *Run) string {
	if run.streamSeconds() == 0 {
		return ""
	}
	return "its stream took " + times(run)
}

// times tells how long a run's streams took, and how much that differed.
func times(run *Run) string {
	text := span(run.streamSeconds())
	if len(run.StreamTimes) > 1 {
		text += " (" + span(slices.Min(run.StreamTimes)) + " to " + span(slices.Max(run.StreamTimes)) + ")"
	}
	return text
}

// unit is what is counted: a server of the user's own isn't asked for its tokens.
func (r *Report) unit() string {
	if r.ownServer() {
		return "delta"
	}
	return "token"
}

// behaviour tells what a reader did, as measure and host define it.
func (r *Report) behaviour(run *Run) string {
	slow := span(r.Setting.SlowSeconds)
	switch run.Reader {
	case host.ReaderThrottled:
		return "took 64 KB/s for " + slow
	case host.ReaderBursty:
		return "paused for 100 ms between bursts"
	case host.ReaderStalled:
		return "stalled for " + slow
	case host.ReaderTrickle:
		return "took one byte a read for " + slow
	}
	return "went away"
}

// fate tells what became of the text.
func fate(run *Run) string {
	switch {
	case run.Lost > 0:
		return counted(run.Lost, "token") + " of text lost"
	case run.Reader == host.ReaderClosed:
		return "the engine went on serving"
	}
	return "no text lost"
}

func (r *Report) fastHeadline(run *Run) Headline {
	if run.Latency != nil {
		return Headline{
			fmt.Sprintf("At %s tokens a second half of them reach a fast reader within %s", grouped(int(run.Rate*float64(run.Streams))), microseconds(run.Latency.P50)),
			"99 % within " + microseconds(run.Latency.P99) + ", 99.9 % within " + microseconds(run.Latency.P999),
		}
	}
	h := Headline{Says: fmt.Sprintf("A fast reader was handed %s %ss a second", Scaled(run.EventsPerSecond()), r.unit())}
	if run.CPUSecondsPerMillion > 0 {
		h.Figures = "the engine used " + digits(run.CPUSecondsPerMillion) + " us of processor time for each"
	}
	return h
}
