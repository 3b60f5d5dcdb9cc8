package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// report prints the findings and writes the files that were asked for.
func (g *guarding) report() error {
	if err := g.verdict.writeTable(g.options.Output); err != nil {
		return err
	}
	fmt.Fprintln(g.options.Output, g.verdict.Sentence())
	return errors.Join(g.writeSummary(), g.writeResults())
}

// Sentence tells the verdict in one line.
func (v Verdict) Sentence() string {
	var worst *Finding
	for i, f := range v.Findings {
		if v.Regressed && f.Again && f.Regressed && (worst == nil || f.Change > worst.Change) {
			worst = &v.Findings[i]
		}
	}
	switch {
	case v.Interrupted:
		return "interrupted: this is no verdict"
	case worst != nil:
		return fmt.Sprintf("regressed: %s is %.1f %% worse than the baseline", worst.Figure, 100*worst.Change)
	case v.Recorded != "":
		return fmt.Sprintf("nothing to compare with: the baseline doesn't know this machine (%s); the run is recorded in %s", v.Machine, v.Recorded)
	case v.Written != "":
		return fmt.Sprintf("the baseline of %s is written to %s", v.Machine, v.Written) + v.advice()
	case len(v.Findings) == 0:
		return "there was nothing to compare: the baseline has none of these figures"
	}
	return "not regressed"
}

// dull is the margin from which on a figure of a new baseline sees too little.
const dull = 0.20

// advice tells which figures of a new baseline won't see much.
func (v Verdict) advice() string {
	var names []string
	for _, m := range v.Medians {
		if m.Margin > dull {
			names = append(names, m.Figure)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; its sessions differ too much to see less than %.0f %% in %s: write it again on a calmer machine",
		100*dull, strings.Join(names, ", "))
}

func (v Verdict) writeTable(output io.Writer) error {
	table := tabwriter.NewWriter(output, 0, 0, 2, ' ', 0)
	if len(v.Medians) > 0 {
		fmt.Fprintln(table, "figure\tnow\tbetween\trounds\tmargin")
	}
	for _, m := range v.Medians {
		fmt.Fprintf(table, "%s\t%.3f\t%.3f … %.3f\t%d\t%s\n", m.Figure, m.Value, m.Low, m.High, m.Rounds, percent(m.Margin))
	}
	if len(v.Findings) == 0 {
		return table.Flush()
	}
	fmt.Fprintln(table, "figure\tbaseline\tnow\tchange\tbetween\tp\trounds\tverdict")
	for _, f := range v.Findings {
		fmt.Fprintf(table, "%s\t%.3f\t%.3f\t%s\t%s\t%.3f\t%d\t%s\n",
			f.Figure, f.Baseline, f.Current, percent(f.Change), f.between(), f.P, f.Rounds, f.verdict())
	}
	return table.Flush()
}

func (f Finding) between() string {
	if f.Low <= -1 {
		return "?"
	}
	return percent(f.Low) + " … " + percent(f.High)
}

func (f Finding) verdict() string {
	switch {
	case f.Low <= -1:
		return "too few rounds to tell"
	case f.Again && f.Regressed:
		return "regressed"
	case f.Again:
		return "not certainly worse, measured again"
	case f.Suspect:
		return "looks worse, to be measured again"
	case f.Improved:
		return "improved"
	case f.P < alpha:
		return fmt.Sprintf("within %s", percent(max(worse, f.Margin)))
	}
	return "the same"
}

func percent(change float64) string { return fmt.Sprintf("%+.1f%%", 100*change) }

// writeSummary appends the findings in Markdown.
func (g *guarding) writeSummary() error {
	if g.options.Summary == "" {
		return nil
	}
	file, err := os.OpenFile(g.options.Summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(g.verdict.writeMarkdown(file), file.Close())
}

func (v Verdict) writeMarkdown(output io.Writer) error {
	text := fmt.Sprintf("### Performance guard\n\n%s\n\n", v.Sentence())
	if len(v.Findings) > 0 {
		text += v.Machine.String() + ", ratios of which less is better\n\n" +
			"| figure | baseline | now | change | between | p | verdict |\n" +
			"| --- | ---: | ---: | ---: | --- | ---: | --- |\n"
	}
	for _, f := range v.Findings {
		text += fmt.Sprintf("| %s | %.3f | %.3f | %s | %s | %.3f | %s |\n",
			f.Figure, f.Baseline, f.Current, percent(f.Change), f.between(), f.P, f.verdict())
	}
	if len(v.Medians) > 0 {
		text += v.Machine.String() + ", ratios of which less is better\n\n" +
			"| figure | now | between | rounds |\n| --- | ---: | --- | ---: |\n"
	}
	for _, m := range v.Medians {
		text += fmt.Sprintf("| %s | %.3f | %.3f … %.3f | %d |\n", m.Figure, m.Value, m.Low, m.High, m.Rounds)
	}
	_, err := io.WriteString(output, text+"\n")
	return err
}
