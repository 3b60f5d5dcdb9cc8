package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Reasons of values that don't fit. They never quote the value.
var (
	errSize      = errors.New("must be a size such as 64KiB, 16MiB or a number of bytes")
	errDuration  = errors.New("must be a duration such as 250ms, 30s or 2m")
	errNegative  = errors.New("must not be negative")
	errTooLarge  = errors.New("is too large")
	errCount     = errors.New("must be a whole number")
	errFraction  = errors.New("must be a number")
	errBool      = errors.New("must be true or false")
	errString    = errors.New("must be a string (put it in quotes)")
	errGPULayers = errors.New("must be auto or a whole number")
	errApproval  = errors.New("must be true, false or a list of globs")
)

// sizeUnits are the binary units of IEC 80000-13, largest first.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", mib}, {"KiB", kib}, {"B", 1}}

// ParseSize reads a number of bytes: "16MiB", "64KiB", "512B" or a plain "1048576".
func ParseSize(text string) (int64, error) {
	unit := int64(1)
	for _, u := range sizeUnits {
		if number, found := strings.CutSuffix(text, u.suffix); found {
			text, unit = strings.TrimRight(number, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooLarge
	case err != nil:
		return 0, errSize
	case n < 0:
		return 0, errNegative
	case n > math.MaxInt64/unit:
		return 0, errTooLarge
	}
	return n * unit, nil
}

// FormatSize writes bytes in the largest unit that divides them; ParseSize reads it back.
func FormatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes != 0 && bytes%u.bytes == 0 && u.bytes > 1 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// ParseDuration reads a duration in Go's notation, "120s" or "1m30s"; a bare 0 needs no unit.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errDuration
	case d < 0:
		return 0, errNegative
	}
	return d, nil
}

// FormatDuration writes d without zero parts ("2m", not "2m0s"); ParseDuration reads it back.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// GPULayers is "auto" or a decimal count, in the form that llama-server's --gpu-layers takes.
type GPULayers string

// GPULayersAuto leaves the number of offloaded layers to be planned.
const GPULayersAuto GPULayers = "auto"

// Count returns the configured number of layers; false for auto.
func (g GPULayers) Count() (int, bool) {
	n, err := strconv.Atoi(string(g))
	return n, err == nil
}

// Approval says which tools of a server ask before they run: all, none, or those that a glob names.
type Approval struct {
	All   bool
	Globs []string // on server/tool, see MatchGlob; nil when All
}

// Needs reports whether the tool with the full name server/tool needs an approval.
func (a Approval) Needs(name string) bool {
	if a.All {
		return true
	}
	for _, glob := range a.Globs {
		if MatchGlob(glob, name) {
			return true
		}
	}
	return false
}

// MatchGlob matches a whole name: * stands for any text, ? for any one character, the rest for
// itself. Unlike in path.Match, * also crosses a slash, so that "web/*" misses no tool of web.
func MatchGlob(glob, name string) bool {
	pattern, text := []rune(glob), []rune(name)
	star, resume := -1, 0 // the last * seen, and where its text would end next
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
