package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// page is everything that a screen shows. Its text is a function of it.
type page struct {
	address string
	now     *Snapshot
	rates   Rates
	notice  string // what is unusual: "paused", or that no answer comes
	zone    *time.Location
	paint   paint

	width  int // columns, at least minWidth
	height int // rows; 0 shows everything, without the keys
	scroll int // streams that are passed over
}

const (
	// minWidth is below what makes sense, so that no width is a special case.
	minWidth = 20
	// twoColumns is the width from which stages and stalls stand side by side.
	twoColumns = 76
	// stagesWidth is what the stages take of it, with the space behind them.
	stagesWidth = 40
)

// text returns the page as lines of at most the width, without a newline at the end.
func (p page) text() string {
	p.width = max(p.width, minWidth)
	lines := append(p.head(), "")
	lines = append(lines, p.middle()...)
	lines = append(lines, "")
	if p.height == 0 {
		return p.join(append(lines, p.streams(len(p.now.Streams)+1)...))
	}
	room := p.height - len(lines) - 1
	lines = append(lines, p.streams(room)...)
	body := max(p.height-1, 0)
	for len(lines) < body {
		lines = append(lines, "")
	}
	return p.join(append(lines[:body], p.keys()))
}

func (p page) join(lines []string) string {
	for i, line := range lines {
		lines[i] = ansi.Truncate(strings.TrimRight(line, " "), p.width, "…")
	}
	return strings.Join(lines, "\n")
}

// head tells who is watched, what waits and what went out.
func (p page) head() []string {
	s, r := p.now, p.rates
	lines := append([]string{p.name(), ""}, p.queue()...)
	lines = append(lines,
		p.flow("Written", r.Frames, "lines/s", s.Written.Frames)+p.volume(),
		p.paint.warnIf(r.Merged > 0, p.flow("Merged", r.Merged, "chunks/s", s.Merged)),
		p.paint.badIf(r.Dropped > 0, p.flow("Dropped", r.Dropped, "events/s", s.Dropped)))
	return lines
}

func (p page) name() string {
	s := p.now
	left := fmt.Sprintf("sluice %s  pid %d  up %s  %s", s.Version, s.PID, uptime(s.Uptime), p.address)
	if p.notice == "" {
		return p.paint.title(left)
	}
	left = fit(left, p.width-ansi.StringWidth(p.notice)-2)
	return p.paint.title(left) + "  " + p.paint.badIf(true, p.notice)
}

// queue is the bar of what waits against what may wait, and the most that ever waited, which is
// marked in it.
func (p page) queue() []string {
	q, bound := p.now.Queue, p.now.Bounds.PendingBytes
	waiting := size(float64(q.Bytes))
	most := size(float64(q.MaxBytes))
	if bound <= 0 {
		waiting = "Queue   " + waiting + " waiting"
	} else {
		share, peak := portion(q.Bytes, bound), portion(q.MaxBytes, bound)
		bar := bar(p.barWidth(), share, peak)
		waiting = fmt.Sprintf("Queue   [%s] %s", p.paint.share(share, bar), p.paint.share(share, percent(share)+" of "+limit(bound)))
		most += " (" + percent(peak) + ")"
	}
	detail := fmt.Sprintf("        %s in %s frames; most so far %s, %s frames", size(float64(q.Bytes)), count(q.Frames), most, count(q.MaxFrames))
	return []string{waiting, detail + p.otherBounds()}
}

// otherBounds names the bound that isn't the bar's, where there is room for it. That of frames is in
// force with on_full: drop alone, which the engine doesn't tell.
func (p page) otherBounds() string {
	if b := p.now.Bounds; p.width >= 110 && b.GuaranteedBytes > 0 {
		return "; results up to " + limit(b.GuaranteedBytes) + " more"
	}
	return ""
}

// barWidth leaves room for the text around the bar.
func (p page) barWidth() int { return min(max(p.width-30, 5), 100) }

func portion(n, bound int64) float64 {
	if bound <= 0 {
		return 0
	}
	return float64(n) / float64(bound)
}

// bar draws two shares of 1: one filled, the other, larger one, as a mark. Whatever isn't nothing is
// seen; what is no share fills nothing or all.
func bar(width int, share, peak float64) string {
	cells := func(share float64) int {
		n := int(min(max(share, 0), 1)*float64(width) + 0.5)
		if n == 0 && share > 0 {
			return 1
		}
		return n
	}
	filled, mark := cells(share), cells(peak)
	text := strings.Repeat("|", filled) + strings.Repeat(" ", width-filled)
	if mark > filled {
		return text[:mark-1] + "!" + text[mark:]
	}
	return text
}

// flow is one line of what passes: its rate and its total.
func (p page) flow(name string, perSecond float64, unit string, total int64) string {
	return fmt.Sprintf("%-8s%s %-9s%s in all", name, right(p.known(rate(perSecond)), 10), unit, right(count(total), 12))
}

// known is a rate when there is one.
func (p page) known(text string) string {
	if p.rates.Over <= 0 {
		return "-"
	}
	return text
}

// volume is what was written in bytes, and in how large writes where there is room to say so.
func (p page) volume() string {
	text := fmt.Sprintf("%s/s%s in all", right(p.known(size(p.rates.Bytes)), 12), right(size(float64(p.now.Written.Bytes)), 11))
	if p.width >= 100 && p.rates.Batches > 0 {
		text += ", " + rate(p.rates.Frames/p.rates.Batches) + " lines a write"
	}
	return text
}

func (p page) keys() string {
	if p.notice == noticePaused {
		return p.paint.heading("q quit   p go on")
	}
	return p.paint.heading("q quit   p pause")
}
