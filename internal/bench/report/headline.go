package report

import (
	"fmt"

	"sluice/internal/bench/host"
)

// Headlines say in plain words what the runs came to: what kept and cost the slowest readers first,
// then how fast the engine is.
func (r *Report) Headlines() (lines []string) {
	for _, run := range r.Runs {
		if run.slow() && run.whole() {
			lines = append(lines, r.readerHeadline(run))
		}
	}
	for _, run := range r.Runs {
		if run.Result != nil && run.Reader == host.ReaderFast {
			lines = append(lines, fastHeadline(run))
		}
	}
	for _, run := range r.Runs {
		if run.Error != "" {
			lines = append(lines, fmt.Sprintf("The run %q failed: %s.", run.Label, run.Error))
		}
	}
	if len(lines) == 0 {
		return []string{"No run came to its end."}
	}
	return lines
}

func (r *Report) readerHeadline(run *Run) string {
	text := "A reader that " + r.behaviour(run)
	switch {
	case run.OfFast > 0:
		text += fmt.Sprintf(" cost the model %s of its time (%s against %s with a fast reader)",
			percent(run.OfFast), span(run.StreamSeconds), span(run.StreamSeconds/run.OfFast))
	case run.StreamSeconds > 0:
		text += fmt.Sprintf(" let the model send %s in %s", counted(run.Sent, "token"), span(run.StreamSeconds))
	default:
		text += fmt.Sprintf(" had %s after %s", counted(run.Tokens, "token"), span(run.Seconds))
	}
	return text + ", and " + fate(run) + "."
}

// behaviour tells what a reader did, as measure and host define it.
func (r *Report) behaviour(run *Run) string {
	slow := duration(r.Setting.SlowSeconds)
	switch run.Reader {
	case host.ReaderThrottled:
		return "took 64 KB/s for " + slow
	case host.ReaderBursty:
		return "paused for 100 ms between bursts for " + slow
	case host.ReaderStalled:
		return "stalled for " + slow
	case host.ReaderTrickle:
		return "took one byte a read for " + slow
	case host.ReaderClosed:
		return "went away"
	}
	return run.Reader
}

// fate tells what became of the text.
func fate(run *Run) string {
	switch {
	case run.Lost > 0:
		return counted(run.Lost, "token") + " of text never arrived"
	case run.Reader == host.ReaderClosed:
		return "the engine went on serving"
	}
	return "no text was lost"
}

func fastHeadline(run *Run) string {
	text := fmt.Sprintf("With a fast reader %s tokens a second went through", Scaled(run.EventsPerSecond()))
	if run.CPUSecondsPerMillion > 0 {
		text += fmt.Sprintf(", at %s us of processor time each", digits(run.CPUSecondsPerMillion))
	}
	if run.Latency != nil {
		text = fmt.Sprintf("At %s tokens a second half of them reached the reader within %s, 99 %% within %s",
			Scaled(run.Rate*float64(run.Streams)), microseconds(run.Latency.P50), microseconds(run.Latency.P99))
	}
	return text + "."
}
