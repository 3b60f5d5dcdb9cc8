package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// pageData is what the template shows.
type pageData struct {
	*Report
	Headline Headline
	More     []Headline
	Titles   []string
	Rows     []row
	Charts   []*chart
	Notes    []string
	About    string
	Date     string
}

// WriteHTML writes the report as a page of its own that loads nothing and runs no script.
func (r *Report) WriteHTML(w io.Writer) error {
	drawn, err := r.charts()
	if err != nil {
		return err
	}
	headlines := r.Headlines()
	data := pageData{
		Report: r, Headline: headlines[0], More: headlines[1:], Rows: r.rows(), Charts: drawn, Notes: r.notes(),
		About: r.setting(), Date: r.Started.Format(time.RFC1123Z),
	}
	for _, run := range r.measured() {
		data.Titles = append(data.Titles, run.title())
	}
	return page.Execute(w, data)
}
