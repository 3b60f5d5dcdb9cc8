package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// metric is one line of the table; value is empty where a run doesn't tell it.
type metric struct {
	name, note string
	value      func(r *Run) string
}

// metrics are the lines of the table, in the order of what a person asks first. Every Run that they
// are given has a Result.
var metrics = []metric{
	{"events/s", "tokens a second that the model could send", func(r *Run) string { return Scaled(r.EventsPerSecond()) }},
	{"us/event", "processor time of the engine for each token", func(r *Run) string { return known(r.CPUSecondsPerMillion, digits) }},
	{"stream time", "from the first to the last token that the model sent; the median where there were several rounds", func(r *Run) string { return known(r.streamSeconds(), span) }},
	{"of fast", "that time against the fast reader's", func(r *Run) string { return known(r.OfFast, digits) }},
	{"all read after", "until the reader had the last line", func(r *Run) string { return known(r.Seconds, span) }},
	{"latency p50", "from the sending of a token to its receipt", latencyOf(0)},
	{"latency p99", "", latencyOf(1)},
	{"latency p99.9", "", latencyOf(2)},
	{"peak RSS", "largest memory of the engine, unread text in it", func(r *Run) string {
		return known(float64(r.PeakRSS), func(v float64) string { return byteSize(int64(v)) })
	}},
	{"tokens sent", "", func(r *Run) string { return grouped(r.Sent) }},
	{"lost text", "tokens that never reached the reader", func(r *Run) string { return grouped(r.Lost) }},
	{"merged", "events that were joined with the one before", counter(func(r *Run) int64 { return r.Engine.Merged })},
	{"dropped", "events that were thrown away", counter(func(r *Run) int64 { return r.Engine.Dropped })},
	{"largest queue", "that ever waited in the engine", func(r *Run) string {
		if r.Engine == nil {
			return ""
		}
		return byteSize(r.Engine.LargestQueue)
	}},
	{"writes", "write calls", counter(func(r *Run) int64 { return r.Engine.Writes })},
	{"time blocked", "in writes, for the reader", func(r *Run) string {
		if r.Engine == nil {
			return ""
		}
		return span(r.Engine.ReaderStalledS)
	}},
}

func known(value float64, format func(float64) string) string {
	if value == 0 {
		return ""
	}
	return format(value)
}

func counter(count func(*Run) int64) func(*Run) string {
	return func(r *Run) string {
		if r.Engine == nil {
			return ""
		}
		return grouped(int(count(r)))
	}
}

func latencyOf(which int) func(*Run) string {
	return func(r *Run) string {
		if r.Latency == nil {
			return ""
		}
		return microseconds([]float64{r.Latency.P50, r.Latency.P99, r.Latency.P999}[which])
	}
}

// row is a line of the table as it is shown: a value for each run that has a result.
type row struct {
	Name, Note string
	Values     []string
}

// measured returns the runs that have something to show.
func (r *Report) measured() (runs []*Run) {
	for _, run := range r.Runs {
		if run.Result != nil {
			runs = append(runs, run)
		}
	}
	return runs
}

// rows leaves out what no run tells.
func (r *Report) rows() (rows []row) {
	for _, m := range metrics {
		line := row{Name: m.name, Note: m.note}
		told := false
		for _, run := range r.measured() {
			value := m.value(run)
			told = told || value != ""
			if value == "" {
				value = "-"
			}
			line.Values = append(line.Values, value)
		}
		if told {
			rows = append(rows, line)
		}
	}
	return rows
}

// WriteTable writes the report as text.
func (r *Report) WriteTable(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "sluice %s on %s\n%s\n\n", r.Engine, r.Machine, r.setting())
	if runs := r.measured(); len(runs) > 0 {
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, run := range runs {
			fmt.Fprintf(table, "\t%s", run.title())
		}
		fmt.Fprintln(table, "\t")
		for _, line := range r.rows() {
			fmt.Fprintf(table, "%s\t%s\t\n", line.Name, strings.Join(line.Values, "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(&text)
	}
	for _, line := range r.Headlines() {
		fmt.Fprintln(&text, line)
	}
	for _, line := range r.notes() {
		fmt.Fprintln(&text, line)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// title marks a run that has not seen its end.
func (r *Run) title() string {
	if r.Cut != "" {
		return r.Label + "*"
	}
	return r.Label
}

// notes tell what a person has to know about the figures.
func (r *Report) notes() (notes []string) {
	for _, run := range r.Runs {
		if run.Cut != "" {
			notes = append(notes, "* "+run.Label+": "+run.Cut+"; its figures are those until then.")
		}
	}
	for _, run := range r.measured() {
		if run.BeyondBound && run.Lost > 0 {
			notes = append(notes, run.Label+": more text was sent than may wait for a reader (output.pending_bytes), so some was dropped.")
		}
	}
	if r.Interrupted {
		notes = append(notes, "Interrupted: the runs that are missing were not made.")
	}
	return notes
}

// setting tells in one line what all runs had in common.
func (r *Report) setting() string {
	s := r.Setting
	parts := []string{r.Server, counted(s.Streams, "stream")}
	if s.Tokens > 0 {
		each := counted(s.Tokens, "token") + " each"
		if r.ownServer() {
			each = "at most " + each
		}
		parts = append(parts, each)
	}
	if s.DurationSeconds > 0 {
		parts = append(parts, "at most "+span(s.DurationSeconds))
	}
	if s.Rate > 0 {
		parts = append(parts, Scaled(s.Rate)+" tokens/s")
	} else if r.Server == BuiltIn {
		parts = append(parts, "unpaced")
	}
	ends := "pipes"
	if s.SocketPair {
		ends = "socket pairs"
	}
	return strings.Join(append(parts, s.Policy, ends), ", ")
}
