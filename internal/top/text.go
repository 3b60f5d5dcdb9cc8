package top

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// printable takes out of a text what a terminal would act on rather than show: control characters,
// line and paragraph separators, and the format characters that turn the direction of writing.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// maxIdentifierBytes is as much of an id as any screen shows.
const maxIdentifierBytes = 1 << 10

// identifier is an id as a person knows it: a number as it was written, a string without its quotes
// unless it would look like a number or like nothing. Of a very long one the middle is left out.
func identifier(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || text == "" || json.Valid([]byte(text)) {
		text = string(raw)
	}
	if n := len(text); n > maxIdentifierBytes {
		text = text[:maxIdentifierBytes/2] + "…" + text[n-maxIdentifierBytes/2:]
	}
	return printable(text)
}

func latestFirst(stalls []Stall) {
	slices.SortStableFunc(stalls, func(a, b Stall) int { return b.At.Compare(a.At) })
}

// fit cuts a text to a width of columns and fills it up with spaces on the right.
func fit(text string, width int) string {
	text = ansi.Truncate(text, max(width, 0), "…")
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// fitMiddle is fit for ids, which differ at their ends more often than in their middle.
func fitMiddle(text string, width int) string {
	if over := ansi.StringWidth(text) - width; over > 0 && width > 2 {
		head := ansi.Truncate(text, width/2, "")
		tail := ansi.TruncateLeft(text, ansi.StringWidth(text)-(width-width/2-1), "")
		text = head + "…" + tail
	}
	return fit(text, width)
}

// right puts a text at the right end of a column.
func right(text string, width int) string {
	return strings.Repeat(" ", max(width-ansi.StringWidth(text), 0)) + text
}

// count writes a number with its thousands apart, from ten million on in millions or more.
func count(n int64) string {
	switch {
	case n >= 1_000_000_000:
		return fmt.Sprintf("%.2f G", float64(n)/1e9)
	case n >= 10_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// rate writes a number a second, with a digit after the point where that tells something.
func rate(perSecond float64) string {
	if perSecond > 0 && perSecond < 9.95 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return count(int64(perSecond + 0.5))
}

// size writes a number of bytes in the units of the configuration.
func size(bytes float64) string {
	const step = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	unit := 0
	for ; bytes >= step && unit < len(units)-1; unit++ {
		bytes /= step
	}
	if unit == 0 || bytes >= 99.95 {
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.1f %s", bytes, units[unit])
}

// limit writes a number of bytes that doesn't change, and so needs no digit to hold its place.
func limit(bytes int64) string { return strings.Replace(size(float64(bytes)), ".0 ", " ", 1) }

// span writes a duration with two or three digits that matter.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0"
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// uptime is span in whole seconds.
func uptime(d time.Duration) string {
	return strings.Replace(span(d.Truncate(time.Second)), ".0 s", " s", 1)
}

// percent writes a share of 1.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", share*100)
}
