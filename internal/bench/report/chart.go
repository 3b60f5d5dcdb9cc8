package report

import (
	"bytes"
	"html/template"
	"math"
	"regexp"
	"strconv"

	"github.com/go-analyze/charts"
)

// The size of a chart in units of its own; the page scales it.
const (
	chartWidth  = 620
	chartHeight = 290
	barHeight   = 34 // of a bar of the comparison, with its margin
	fontSize    = 11
)

// chart is a picture in both modes.
type chart struct {
	Title, Note string
	Light, Dark template.HTML
}

// draw renders a chart in both modes; paint is called with each mode's theme.
func draw(title, note string, height int, readers []string, paint func(*charts.Painter, charts.ColorPalette) error) (*chart, error) {
	c := &chart{Title: title, Note: note}
	for _, mode := range []struct {
		palette palette
		drawing *template.HTML
	}{{lightPalette, &c.Light}, {darkPalette, &c.Dark}} {
		theme := mode.palette.theme(readers)
		painter := charts.NewPainter(charts.PainterOptions{
			OutputFormat: charts.ChartOutputSVG, Width: chartWidth, Height: height, Theme: theme,
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
func lines(title, note string, readers, names []string, step float64, series [][]float64) (*chart, error) {
	labels := make([]string, longest(series))
	for index := range labels {
		labels[index] = digits(float64(index+1)*step) + " s"
	}
	return draw(title, note, chartHeight, readers, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewLineChartOptionWithData(withNulls(series))
		option.Theme = theme
		option.Padding = charts.NewBox(4, 8, 20, 4)
		option.Legend = legend(names)
		option.XAxis = charts.XAxisOption{Labels: labels, LabelCount: min(7, len(labels)), BoundaryGap: charts.Ptr(false), LabelFontStyle: style()}
		option.YAxis = []charts.YAxisOption{valueAxis(Scaled)}
		option.Symbol = charts.Symbol{Shape: charts.SymbolNone}
		option.LineStrokeWidth = 2
		return painter.LineChart(option)
	})
}

func legend(names []string) charts.LegendOption {
	return charts.LegendOption{
		Show: charts.Ptr(len(names) > 1), SeriesNames: names, FontStyle: style(), Symbol: charts.SymbolSquare,
		Offset: charts.OffsetLeft, Padding: charts.NewBox(0, 0, 0, 12),
	}
}

func valueAxis(format func(float64) string) charts.YAxisOption {
	return charts.YAxisOption{
		Min: charts.Ptr(0.0), LabelCount: 5, LabelFontStyle: style(), ValueFormatter: format,
		PreferNiceIntervals: charts.Ptr(true), SplitLineShow: charts.Ptr(true),
	}
}

// bars draws a horizontal bar with its value for each of the names.
func bars(title, note string, readers, names []string, values []float64, format func(float64) string) (*chart, error) {
	// a series for each bar gives it its reader's colour
	series := make([][]float64, len(values))
	for index, value := range values {
		series[index] = []float64{value}
	}
	return draw(title, note, 70+barHeight*len(values), readers, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewBarChartOptionWithData(series)
		option.Horizontal = true
		option.Theme = theme
		option.Padding = charts.NewBox(4, 8, 70, 4)
		option.Legend = legend(names)
		option.CategoryAxis = charts.CategoryAxisOption{Labels: []string{""}, LabelFontStyle: style()}
		option.ValueAxis = []charts.ValueAxisOption{valueAxis(format)}
		option.ValueFormatter = format
		for index := range option.SeriesList {
			option.SeriesList[index].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: style(), ValueFormatter: format}
		}
		return painter.BarChart(option)
	})
}

// columns draws one vertical bar for each label.
func columns(title, note, reader string, labels []string, values []float64, format func(float64) string) (*chart, error) {
	return draw(title, note, chartHeight, []string{reader}, func(painter *charts.Painter, theme charts.ColorPalette) error {
		option := charts.NewBarChartOptionWithData([][]float64{values})
		option.Theme = theme
		option.Padding = charts.NewBox(4, 8, 20, 4)
		option.Legend = legend(nil)
		option.BarMargin = charts.Ptr(0.1)
		option.CategoryAxis = charts.CategoryAxisOption{Labels: labels, LabelCount: min(9, len(labels)), LabelFontStyle: style()}
		option.ValueAxis = []charts.ValueAxisOption{valueAxis(format)}
		return painter.BarChart(option)
	})
}

func longest(series [][]float64) (length int) {
	for _, values := range series {
		length = max(length, len(values))
	}
	return length
}

// withNulls gives all series the same length and the library's own value for nothing.
func withNulls(series [][]float64) [][]float64 {
	filled := make([][]float64, len(series))
	for index, values := range series {
		filled[index] = make([]float64, longest(series))
		for at := range filled[index] {
			filled[index][at] = charts.GetNullValue()
			if at < len(values) && !math.IsNaN(values[at]) {
				filled[index][at] = values[at]
			}
		}
	}
	return filled
}

func share(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) + " %" }
