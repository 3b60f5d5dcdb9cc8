package report

import (
	"github.com/go-analyze/charts"

	"sluice/internal/bench/host"
)

// palette holds the colours of one mode. Those of the page itself are in the template.
type palette struct {
	text, line, background charts.Color
	readers                map[string]charts.Color
}

// The colours of the readers differ in lightness as well, for those who don't tell hues apart.
var (
	lightPalette = palette{
		text: charts.ColorFromHex("#4a5260"), line: charts.ColorFromHex("#dfe3e9"), background: charts.ColorFromHex("#ffffff"),
		readers: map[string]charts.Color{
			host.ReaderFast:      charts.ColorFromHex("#1f6feb"),
			host.ReaderThrottled: charts.ColorFromHex("#e07b00"),
			host.ReaderBursty:    charts.ColorFromHex("#8250df"),
			host.ReaderStalled:   charts.ColorFromHex("#cf222e"),
			host.ReaderTrickle:   charts.ColorFromHex("#1a7f5a"),
			host.ReaderClosed:    charts.ColorFromHex("#6e7781"),
		},
	}
	darkPalette = palette{
		text: charts.ColorFromHex("#b6bfca"), line: charts.ColorFromHex("#313842"), background: charts.ColorFromHex("#171c23"),
		readers: map[string]charts.Color{
			host.ReaderFast:      charts.ColorFromHex("#58a6ff"),
			host.ReaderThrottled: charts.ColorFromHex("#ffa94d"),
			host.ReaderBursty:    charts.ColorFromHex("#bc9cff"),
			host.ReaderStalled:   charts.ColorFromHex("#ff7b72"),
			host.ReaderTrickle:   charts.ColorFromHex("#56d4a0"),
			host.ReaderClosed:    charts.ColorFromHex("#9aa4af"),
		},
	}
)

// theme returns the library's form of a palette with a series for each of the readers.
func (p palette) theme(readers []string) charts.ColorPalette {
	colors := make([]charts.Color, len(readers))
	for index, reader := range readers {
		colors[index] = p.readers[reader]
	}
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor:    p.line,
		AxisSplitLineColor: p.line,
		BackgroundColor:    p.background,
		TextColor:          p.text,
		SeriesColors:       colors,
	})
}
