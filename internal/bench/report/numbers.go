package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Scaled returns a count with three digits that say something: 950, 1.23 k, 1.90 M.
func Scaled(value float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if value >= unit.size*0.9995 {
			return digits(value/unit.size) + unit.name
		}
	}
	return digits(value)
}

// digits returns a number below 1000 with three digits, without zeros at its end.
func digits(value float64) string {
	places := 2
	switch {
	case value >= 99.95:
		places = 0
	case value >= 9.995:
		places = 1
	}
	text := strconv.FormatFloat(value, 'f', places, 64)
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// byteSize returns bytes in binary units.
func byteSize(bytes int64) string {
	value := float64(bytes)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if value < 1023.5 {
			return digits(value) + " " + unit
		}
		value /= 1024
	}
	return digits(value) + " GiB"
}

// span returns a duration in the unit that suits it.
func span(seconds float64) string {
	switch {
	case seconds >= 0.9995:
		return digits(seconds) + " s"
	case seconds >= 0.9995e-3:
		return digits(seconds*1e3) + " ms"
	case seconds == 0:
		return "0 s"
	}
	return digits(seconds*1e6) + " us"
}

func microseconds(value float64) string { return span(value / 1e6) }

// percent returns by how much a ratio is more than one, not less than 0 %.
func percent(ratio float64) string { return fmt.Sprintf("%.0f %%", max(0, (ratio-1)*100)) }

// grouped returns a count with its thousands apart.
func grouped(count int) string {
	text := strconv.Itoa(count)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// counted returns "1 core", "2 cores".
func counted(count int, name string) string {
	if count == 1 {
		return "1 " + name
	}
	return grouped(count) + " " + name + "s"
}
