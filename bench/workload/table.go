package workload

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the medians as text: a column for each program, a line for each metric, and
// below them the goals.
func (r *Result) WriteTable(output io.Writer) error {
	fmt.Fprintf(output, "%s: %s; median of %d rounds\n", r.Workload, r.Title, r.Rounds)
	table := tabwriter.NewWriter(output, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, program := range r.Programs {
		fmt.Fprintf(table, "\t%s", program.Program)
	}
	fmt.Fprintln(table, "\t")
	for _, name := range r.metricNames() {
		fmt.Fprint(table, name)
		for _, program := range r.Programs {
			fmt.Fprintf(table, "\t%s", program.format(name))
		}
		fmt.Fprintln(table, "\t")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, goal := range r.Goals {
		fmt.Fprintln(output, goal)
	}
	_, err := fmt.Fprintln(output)
	return err
}

func (r *Result) metricNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, program := range r.Programs {
		for _, series := range program.Metrics {
			if !seen[series.Name] {
				seen[series.Name] = true
				names = append(names, series.Name)
			}
		}
	}
	return names
}

func (p *ProgramResult) format(metric string) string {
	for _, series := range p.Metrics {
		if series.Name == metric {
			return formatValue(series.Median)
		}
	}
	return ""
}

// String tells the goal, what was measured and whether that is enough.
func (g GoalResult) String() string {
	relation, verdict := "at most", "missed"
	if g.AtLeast {
		relation = "at least"
	}
	if g.Met {
		verdict = "met"
	}
	return fmt.Sprintf("goal: %s %s %s %s: %s, %s", g.Program, g.Metric, relation, formatValue(g.Bound), formatValue(g.Median), verdict)
}

// formatValue keeps three to four digits that say something.
func formatValue(value float64) string {
	switch {
	case value >= 100 || value <= -100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10 || value <= -10:
		return fmt.Sprintf("%.1f", value)
	}
	text := fmt.Sprintf("%.3f", value)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
