package report

import (
	"bytes"
	"html/template"
	"math"
	"regexp"
	"slices"

	"github.com/go-analyze/charts"
)

// The sizes of charts in CSS pixels where the page is wide; where it is narrow it makes them smaller.
const (
	halfWidth   = 540
	thirdWidth  = 345
	fullWidth   = 1100
	chartHeight = 270
	barsHeight  = 24 // of a chart of horizontal bars without them
	barHeight   = 34

	barLabelWidth = 150
	fontSize      = 10.5
	legendSize    = 9.5
)

// chart is a picture in both modes.
type chart struct {
	Title, Note string
	Place       string // the width of the page that it takes, a class of the template
	Light, Dark template.HTML
}

// places names the widths.
var places = map[int]string{halfWidth: "half", thirdWidth: "third", fullWidth: "full"}

// draw renders a chart in both modes; paint is called with each mode's theme.
func draw(title, note string, width, height int, readers []string, paint func(*charts.Painter, charts.ColorPalette) error) (*chart, error) {
	c := &chart{Title: title, Note: note, Place: places[width]}
	for _, mode := range []struct {
		palette palette
		drawing *template.HTML
	}{{lightPalette, &c.Light}, {darkPalette, &c.Dark}} {
		theme := mode.palette.theme(readers)
		painter := charts.NewPainter(charts.PainterOptions{
			OutputFormat: charts.ChartOutputSVG, Width: width, Height: height, Theme: theme,
		})
		if err := paint(painter, theme); err != nil {
			return nil, err
		}
		drawing, err := painter.Bytes()
		if err != nil {
			return nil, err
		}
		*mode.drawing = inline(drawing, title)
	}
	return c, nil
}

var (
	namespaces = regexp.MustCompile(` xmlns(:\w+)?="[^"]*"`)
	fonts      = regexp.MustCompile(`font-family:[^;"]*`)
)

// inline makes a drawing part of an HTML page, with that page's font. The library escapes the texts.
func inline(drawing []byte, title string) template.HTML {
	drawing = namespaces.ReplaceAll(drawing, nil)
	drawing = fonts.ReplaceAll(drawing, []byte("font-family:inherit"))
	label := `<svg role="img" aria-label="` + template.HTMLEscapeString(title) + `"`
	return template.HTML(bytes.Replace(drawing, []byte("<svg"), []byte(label), 1))
}

func style() charts.FontStyle { return charts.FontStyle{FontSize: fontSize} }

// lines draws series over time, one for each reader. NaN is nothing.
func lines(title, note string, width int, readers, names []string, axis ticks, series [][]float64) (*chart, error) {
	labels := make([]string, axis.steps()+1)
	for index := range labels {
		labels[index] = span(float64(index) * axis.step())
	}
	return draw(title, note, width, chartHeight, readers, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewLineChartOptionWithData(withNulls(series))
		option.Theme = theme
		option.Padding = charts.NewBox(4, 8, 24, 4)
		option.Legend = legend(names)
		option.XAxis = charts.XAxisOption{Labels: labels, LabelCount: axis.count + 1, BoundaryGap: charts.Ptr(false), LabelFontStyle: style()}
		option.YAxis = []charts.YAxisOption{valueAxis(niceTicks(largest(series...)), Scaled)}
		option.Symbol = charts.Symbol{Shape: charts.SymbolNone}
		option.LineStrokeWidth = 2
		return painter.LineChart(option)
	})
}

func legend(names []string) charts.LegendOption {
	return charts.LegendOption{
		Show: charts.Ptr(len(names) > 1), SeriesNames: names, FontStyle: charts.FontStyle{FontSize: legendSize}, Symbol: charts.SymbolSquare,
		Offset: charts.OffsetLeft, Padding: charts.NewBox(0, 0, 0, 12),
	}
}

func valueAxis(axis ticks, format func(float64) string) charts.ValueAxisOption {
	return charts.ValueAxisOption{
		Min: charts.Ptr(0.0), Max: charts.Ptr(axis.top()), LabelCount: axis.count + 1, PreferNiceIntervals: charts.Ptr(false),
		RangeValuePaddingScale: charts.Ptr(0.0), LabelFontStyle: style(), ValueFormatter: format, SplitLineShow: charts.Ptr(true),
	}
}

// bars draws a horizontal bar for each of the names, which stand behind their values.
func bars(title, note string, readers, names []string, values []float64, format func(float64) string) (*chart, error) {
	height := barsHeight + barHeight*len(values)
	return draw(title, note, thirdWidth, height, readers, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewBarChartOptionWithData(apart(values))
		option.Horizontal = true
		option.Theme = theme
		option.Padding = charts.NewBox(0, 0, barLabelWidth, 0)
		option.Legend = legend(nil)
		option.CategoryAxis = charts.CategoryAxisOption{Show: charts.Ptr(false), Labels: []string{""}}
		axis := valueAxis(ticks{largest(values), 1}, format)
		axis.Show = charts.Ptr(false) // the bars tell their values
		option.ValueAxis = []charts.ValueAxisOption{axis}
		for index := range option.SeriesList {
			label := func(value float64) string { return format(value) + "  " + names[index] }
			option.SeriesList[index].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: style(), ValueFormatter: label}
		}
		return painter.BarChart(option)
	})
}

// apart makes a series of each value, which gives its bar its reader's colour.
func apart(values []float64) (series [][]float64) {
	for _, value := range values {
		series = append(series, []float64{value})
	}
	return series
}

// columns draws one vertical bar for each label, and every few of the labels.
func columns(title, note, reader string, labels []string, every int, values []float64, format func(float64) string) (*chart, error) {
	return draw(title, note, fullWidth, chartHeight, []string{reader}, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewBarChartOptionWithData(withNulls([][]float64{values}))
		option.Theme = theme
		option.Padding = charts.NewBox(14, 8, 24, 4)
		option.Legend = legend(nil)
		option.BarSize = 0.8
		option.CategoryAxis = charts.CategoryAxisOption{Labels: labels, LabelCount: (len(labels)-1)/every + 1, LabelFontStyle: style()}
		option.ValueAxis = []charts.ValueAxisOption{valueAxis(niceTicks(largest(values)), format)}
		return painter.BarChart(option)
	})
}

// largest returns the largest value, 0 when there is none. NaN is nothing.
func largest(series ...[]float64) (most float64) {
	for _, values := range series {
		for _, value := range values {
			if value > most {
				most = value
			}
		}
	}
	return most
}

// withNulls puts the library's own value for nothing in the place of NaN.
func withNulls(series [][]float64) [][]float64 {
	filled := make([][]float64, len(series))
	for index, values := range series {
		filled[index] = slices.Clone(values)
		for at, value := range values {
			if math.IsNaN(value) {
				filled[index][at] = charts.GetNullValue()
			}
		}
	}
	return filled
}

func share(value float64) string { return digits(value) + " %" }
