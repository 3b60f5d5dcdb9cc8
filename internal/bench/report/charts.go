package report

import (
	"errors"

	"sluice/internal/bench/host"
)

// charts draws what the runs tell. A chart that nothing is known for is left out.
func (r *Report) charts() ([]*chart, error) {
	var drawn []*chart
	var failed error
	for _, make := range []func() (*chart, error){
		r.rateChart, r.waitingChart, r.streamChart, r.memoryChart, r.processorChart, r.latencyChart,
	} {
		c, err := make()
		failed = errors.Join(failed, err)
		if c != nil {
			drawn = append(drawn, c)
		}
	}
	return drawn, failed
}

// sampled returns the runs of the setting's own rate that can be drawn over time.
func (r *Report) sampled() (runs []*Run) {
	for _, run := range r.measured() {
		if len(run.Samples) > 0 && run.Rate == r.Setting.Rate {
			runs = append(runs, run)
		}
	}
	return runs
}

func (r *Report) ownServer() bool { return r.Server != BuiltIn }

// rateChart shows the stream's own time, in which every reader's line should look the same.
func (r *Report) rateChart() (*chart, error) {
	title, note := "How fast the model could send", "Tokens a second over the time of the stream. Lines that lie on each other are readers that cost nothing."
	seconds := func(run *Run) float64 { return run.StreamSeconds }
	values := func(t timeline) []float64 { return t.sentRate }
	if r.ownServer() {
		title, note = "How fast text arrived", "Deltas a second that the reader received."
		seconds = func(run *Run) float64 { return run.Seconds }
		values = func(t timeline) []float64 { return t.receivedRate }
	}
	return r.timeChart(title, note, seconds, values)
}

func (r *Report) waitingChart() (*chart, error) {
	if r.ownServer() {
		return nil, nil
	}
	return r.timeChart("What waits for the reader", "Queue depth: tokens that the model has sent and the reader not yet taken, until all was read.",
		func(run *Run) float64 { return run.Seconds }, func(t timeline) []float64 { return t.waiting })
}

func (r *Report) timeChart(title, note string, seconds func(*Run) float64, values func(timeline) []float64) (*chart, error) {
	runs := r.sampled()
	longest := 0.0
	for _, run := range runs {
		longest = max(longest, seconds(run))
	}
	if longest == 0 {
		return nil, nil
	}
	axis := niceTicks(longest)
	var series [][]float64
	for _, run := range runs {
		series = append(series, values(newTimeline(run.Result, axis)))
	}
	readers, names := named(runs)
	width := halfWidth
	if r.ownServer() { // it stands alone: what waits isn't known
		width = fullWidth
	}
	return lines(title, note, width, readers, names, axis, series)
}

func named(runs []*Run) (readers, names []string) {
	for _, run := range runs {
		readers, names = append(readers, run.Reader), append(names, run.title())
	}
	return readers, names
}

func (r *Report) streamChart() (*chart, error) {
	if r.ownServer() {
		return r.comparison("How long it took", "From the request until the reader had the last line.",
			func(run *Run) float64 { return run.Seconds }, span)
	}
	return r.comparison("How long the model was busy", "From its first to its last token, by reader; medians. Bars of one length: nobody slowed it down.",
		(*Run).streamSeconds, span)
}

func (r *Report) memoryChart() (*chart, error) {
	return r.comparison("How much memory it took", "Peak RSS of the engine, by reader. What a reader has not taken yet is part of it.",
		func(run *Run) float64 { return float64(run.PeakRSS) }, func(bytes float64) string { return byteSize(int64(bytes)) })
}

func (r *Report) processorChart() (*chart, error) {
	return r.comparison("What it cost the processor", "Time of the engine for each token, user and system, by reader.",
		func(run *Run) float64 { return run.CPUSecondsPerMillion }, func(us float64) string { return digits(us) + " us" })
}

func (r *Report) comparison(title, note string, value func(*Run) float64, format func(float64) string) (*chart, error) {
	var runs []*Run
	var values []float64
	for _, run := range r.measured() {
		if run.Rate == r.Setting.Rate && value(run) > 0 {
			runs, values = append(runs, run), append(values, value(run))
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	readers, names := named(runs)
	return bars(title, note, readers, names, values, format)
}

// latencyChart shows the distribution of one run, a fast reader's if there is one.
func (r *Report) latencyChart() (*chart, error) {
	var shown *Run
	for _, run := range r.measured() {
		if len(run.Latencies) > 0 && (shown == nil || run.Reader == host.ReaderFast && shown.Reader != host.ReaderFast) {
			shown = run
		}
	}
	if shown == nil {
		return nil, nil
	}
	note := "From the sending of a token to its receipt, reader " + shown.Label + ", in percent of the tokens. Half within " +
		microseconds(shown.Latency.P50) + ", 99 % within " + microseconds(shown.Latency.P99) + ", 99.9 % within " + microseconds(shown.Latency.P999) + "."
	labels, values := distribution(shown.Latencies)
	return columns("How soon a token arrives", note, shown.Reader, labels, barsPerLabel, values, share)
}
