package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// middle is what the stages do and what stalls, side by side where there is room.
func (p page) middle() []string {
	stages, stalls := p.stages(), p.stalls()
	if p.width < twoColumns {
		return append(append(stages, ""), stalls...)
	}
	var lines []string
	for i := range max(len(stages), len(stalls)) {
		left, right := "", ""
		if i < len(stages) {
			left = stages[i]
		}
		if i < len(stalls) {
			right = stalls[i]
		}
		lines = append(lines, fit(left, stagesWidth)+right)
	}
	return lines
}

// stages is a table of the stages, in the order of the data flow.
func (p page) stages() []string {
	lines := []string{p.paint.heading(fmt.Sprintf("%-11s%10s%7s%9s", "STAGE", "items/s", "busy", "each"))}
	for _, g := range p.now.Stages {
		items, busy := "-", "-"
		r, ok := p.rates.Stages[g.Name]
		if ok {
			items, busy = rate(r.Items), percent(r.Busy)
		}
		busy = p.paint.warnIf(r.Busy >= 0.5, right(busy, 7))
		lines = append(lines, fit(g.Name, 11)+right(items, 10)+busy+right(mean(g.Busy, g.Count), 9))
	}
	return lines
}

// mean is the time of one of n, since the engine began: the counters' milliseconds are too coarse for
// the mean of a moment, and for that of a few.
func mean(total time.Duration, n int64) string {
	if n <= 0 || total <= 0 {
		return "-"
	}
	return span(total / time.Duration(n))
}

// stalls counts the stalls by their cause, and names the last ones. Causes of which one was counted
// just now are marked.
func (p page) stalls() []string {
	lines := []string{p.paint.heading(fmt.Sprintf("%-10s%8s%10s%10s", "STALLS", "count", "time", "each"))}
	for i, cause := range Causes {
		s := p.now.Stalls[i]
		line := fmt.Sprintf("%-10s%s%s%s", cause, right(count(s.Count), 8), right(span(s.Time), 10), right(mean(s.Time, s.Count), 10))
		lines = append(lines, p.paint.warnIf(p.rates.Stalls[i] > 0, line))
	}
	recent := p.now.Recent
	if len(recent) == 0 {
		return append(lines, "no stall so far")
	}
	lines = append(lines, p.paint.heading(fmt.Sprintf("%-9s%-9s%7s%s  request", "LATEST", "cause", "time", p.queued("queued"))))
	for _, s := range recent[:min(len(recent), p.recentRows())] {
		lines = append(lines, p.stall(s))
	}
	return lines
}

// recentRows is how many of the last stalls are shown.
func (p page) recentRows() int {
	usual := 24 // rows of a terminal
	switch {
	case p.height == 0:
		return len(p.now.Recent)
	case p.width < twoColumns:
		usual = 34 // where the stages don't stand beside them
	}
	return max(3+(p.height-usual)/3, 1)
}

func (p page) stall(s Stall) string {
	at := ""
	if !s.At.IsZero() {
		at = p.local(s.At).Format(time.TimeOnly)
	}
	line := fmt.Sprintf("%-9s%s%s%s  ", at, fit(s.Cause, 9), right(span(s.Time), 7), p.queued(size(float64(s.QueueBytes))))
	room := p.width - ansi.StringWidth(line)
	if p.width >= twoColumns {
		room -= stagesWidth
	}
	return line + fitMiddle(s.Request, room)
}

// queued is the column of what waited at the end of a stall, where there is room for it.
func (p page) queued(text string) string {
	if p.width < 100 && p.width >= twoColumns {
		return ""
	}
	return right(text, 11)
}

func (p page) local(t time.Time) time.Time {
	if p.zone == nil {
		return t
	}
	return t.In(p.zone)
}

// streams is a table of as many streams as there are rows for, and says how many there are besides.
func (p page) streams(rows int) []string {
	all := p.now.Streams
	if len(all) == 0 {
		return []string{p.paint.heading("STREAMS"), "no chat runs"}
	}
	idWidth := max(p.width-40, 8)
	lines := []string{p.paint.heading(fmt.Sprintf("%s  %-8s%8s%11s%11s", fit(fmt.Sprintf("STREAMS (%d)", len(all)), idWidth), "state", "age", "tokens", "tokens/s"))}
	first, shown := visible(len(all), rows-1, p.scroll)
	for _, s := range all[first : first+shown] {
		perSecond, ok := p.rates.Tokens[s.ID]
		speed := "-"
		if ok {
			speed = rate(perSecond)
		}
		lines = append(lines, fitMiddle(s.ID, idWidth)+"  "+fit(s.State, 8)+right(span(s.Age), 8)+right(count(s.Tokens), 11)+right(speed, 11))
	}
	if before, after := first, len(all)-first-shown; before+after > 0 {
		lines = append(lines, hidden(before, after))
	}
	return lines
}

// hidden says how many streams are not shown, and how to see them.
func hidden(above, below int) string {
	var where []string
	if above > 0 {
		where = append(where, fmt.Sprintf("%d more above", above))
	}
	if below > 0 {
		where = append(where, fmt.Sprintf("%d more below", below))
	}
	return strings.Join(where, ", ") + " (arrow keys)"
}

// visible returns which of n rows are shown in a room of rows, when the reader scrolled: all of them
// where they fit, else one row is left to say how many aren't.
func visible(n, rows, scroll int) (first, shown int) {
	if rows = max(rows, 0); n <= rows {
		return 0, n
	}
	shown = max(rows-1, 0)
	return min(max(scroll, 0), n-shown), shown
}
