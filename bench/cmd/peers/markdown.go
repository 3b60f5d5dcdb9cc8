package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// column is one of a table: its heading, and how it shows a program.
type column struct {
	heading string
	show    func(*program) string
}

// markdown returns the tables of what was measured, and a line below them that begins with what the
// figures are; nothing when nothing was measured.
func (b *bench) markdown(basis string) string {
	var text strings.Builder
	for _, name := range []string{"W1", "W3", "W6"} {
		programs := b.figures.of(name)
		if len(programs) == 0 {
			continue
		}
		title, columns := b.table(name)
		fmt.Fprintf(&text, "%s\n\n", title)
		writeTable(&text, columns, programs)
		text.WriteByte('\n')
	}
	if text.Len() == 0 {
		return ""
	}
	fmt.Fprintf(&text, "%s on %s.", basis, machine())
	for _, missing := range b.missing {
		fmt.Fprintf(&text, " Not measured, since it was missing: `%s`.", missing)
	}
	text.WriteString("\n")
	return text.String()
}

func (b *bench) table(workload string) (title string, columns []column) {
	lostColumn := column{"lost", func(p *program) string { return percent(p.median(lost)) }}
	memory := column{"peak memory", func(p *program) string { return fmt.Sprintf("%.0f MiB", p.median(rss)/(1<<20)) }}
	switch workload {
	case "W1":
		title = fmt.Sprintf("One chat as fast as it is read (W1, %s tokens; programs below 0.2 M events/s %s):",
			thousands(b.sizes.tokens), thousands(b.sizes.smallTokens))
		return title, []column{
			{"events/s", func(p *program) string { return millions(p.median(events)) }},
			{"µs of CPU an event", func(p *program) string { return digits(p.median(cpu)) }},
			{"of the limit", func(p *program) string { return digits(p.median(ofLimit)) }},
			lostColumn, memory,
		}
	case "W3":
		title = fmt.Sprintf("Who pays when the reader stops for %v (W3, %s tokens; Benthos %s):",
			b.sizes.stall, thousands(b.sizes.slowTokens), thousands(b.sizes.smallTokens))
		return title, []column{
			{"the model's stream takes, reader fast → stalled", func(p *program) string {
				return fmt.Sprintf("%s → %s s", digits(p.median(fastSeconds)), digits(p.median(stallSeconds)))
			}},
			{"text lost", lostColumn.show}, memory,
		}
	}
	return fmt.Sprintf("The sink alone: %d producers, lines of 70–120 bytes, to a pipe (W6):", producers), []column{
		{"lines/s", func(p *program) string { return millions(p.median(lines)) }},
		{"µs of CPU a line", func(p *program) string { return digits(p.median(cpu)) }},
		{"allocations a line", func(p *program) string { return fmt.Sprintf("%.2f", p.median(allocations)) }},
		lostColumn,
	}
}

func writeTable(text *strings.Builder, columns []column, programs []*program) {
	text.WriteString("| program |")
	for _, c := range columns {
		fmt.Fprintf(text, " %s |", c.heading)
	}
	text.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	for _, p := range programs {
		fmt.Fprintf(text, "| %s |", p.name)
		for _, c := range columns {
			fmt.Fprintf(text, " %s |", c.show(p))
		}
		text.WriteByte('\n')
	}
}

// millions shows a rate with three digits.
func millions(perSecond float64) string { return digits(perSecond/1e6) + " M" }

// digits keeps about three digits that say something.
func digits(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	case value >= 0.1:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.3f", value)
}

// percent never shows a loss as none.
func percent(part float64) string {
	switch {
	case part <= 0:
		return "0"
	case part < 0.01:
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", part*100)
}

func thousands(count int) string {
	text := fmt.Sprint(count)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// machine tells where the figures come from.
func machine() string {
	parts := []string{fmt.Sprintf("%d cores of %s", runtime.NumCPU(), processor()), strings.Replace(runtime.Version(), "go", "Go ", 1)}
	for _, interpreter := range []string{"node", "python3"} {
		if output, err := exec.Command(interpreter, "--version").Output(); err == nil {
			version := strings.TrimSpace(string(output))
			if interpreter == "node" {
				version = "Node " + strings.TrimPrefix(version, "v")
			}
			parts = append(parts, version)
		}
	}
	return strings.Join(parts, ", ")
}

// processor returns the processor's model as /proc/cpuinfo names it.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
