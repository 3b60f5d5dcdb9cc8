package report

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/bench/latency"
	"sluice/internal/bench/measure"
)

func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	var text strings.Builder
	if err := r.WriteHTML(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// elsewhere is whatever would make a browser ask somebody.
var elsewhere = regexp.MustCompile(`(?i)https?:|//|\b(src|href|srcset|action|data|xmlns)\s*=|url\(|@import|<(script|link|iframe|object|embed|base|img|image|use|form)\b`)

func TestPageLoadsNothing(t *testing.T) {
	page := pageOf(t, example())
	if found := elsewhere.FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, sample := range []string{`<a href="x">`, `<script>`, `background: url(x)`, `xmlns="x"`, `<img src=x>`, `//host/x`} {
		if !elsewhere.MatchString(sample) {
			t.Errorf("the test wouldn't see %s", sample)
		}
	}
}

func TestPageShowsEverything(t *testing.T) {
	page := pageOf(t, example())
	for _, want := range []string{
		"A reader that stalled for 2 s cost the model", "Some Processor 9000", "go1.26.0", "sluice 1.2.3", "Tue, 03 Feb 2026",
		"prefers-color-scheme: dark", "How fast the model could send", "What waits for the reader", "How long the model was busy",
		"How much memory it took", "What it cost the processor", "How soon a token arrives", "largest queue", "fast at 1000/s",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q isn't on the page", want)
		}
	}
	if drawings := strings.Count(page, "<svg role="); drawings != 12 { // six charts in two modes
		t.Errorf("%d drawings", drawings)
	}
}

func TestPageEscapesWhatOthersWrote(t *testing.T) {
	const evil = `<script>alert("x")</script>`
	r := example()
	r.Server, r.Runs[0].Label, r.Runs[1].Error, r.Engine = evil, evil, evil, evil
	if page := pageOf(t, r); strings.Contains(page, "<script") {
		t.Error("a script got into the page")
	}
}

func TestPageWithoutRuns(t *testing.T) {
	r := example()
	r.Runs, r.Interrupted = nil, true
	page := pageOf(t, r)
	if strings.Contains(page, "<svg") || strings.Contains(page, "<table") || !strings.Contains(page, "No run came to its end") {
		t.Errorf("the page of nothing is\n%s", page)
	}
}

// TestChartsOfAServerOfOnesOwn: nobody knows what such a server sent when.
func TestChartsOfAServerOfOnesOwn(t *testing.T) {
	r := example()
	r.Server, r.Runs = "http://127.0.0.1:1", r.Runs[:2]
	for _, run := range r.Runs {
		run.StreamSeconds, run.StreamTimes = 0, nil
	}
	drawn, err := r.charts()
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range drawn {
		titles = append(titles, c.Title)
	}
	if got, want := strings.Join(titles, "; "), "How fast text arrived; How long it took; How much memory it took; What it cost the processor"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNiceTicks(t *testing.T) {
	for _, test := range []struct {
		largest float64
		want    ticks
	}{
		{0, ticks{1, 1}}, {math.NaN(), ticks{1, 1}}, {1, ticks{0.2, 5}}, {10, ticks{2, 5}}, {10.1, ticks{5, 3}}, {2e6, ticks{500_000, 4}}, {0.3, ticks{0.1, 3}},
	} {
		got := niceTicks(test.largest)
		if got.count != test.want.count || math.Abs(got.size-test.want.size) > 1e-9*test.want.size {
			t.Errorf("%v: %v, want %v", test.largest, got, test.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		largest := math.Exp(random.Float64()*60 - 30)
		axis := niceTicks(largest)
		if axis.count < 1 || axis.count > mostTicks || axis.top() < largest*(1-1e-6) || axis.top()-axis.size > largest {
			t.Fatalf("%v: %v", largest, axis)
		}
	}
}

func TestTimeline(t *testing.T) {
	axis := ticks{2, 1} // steps of 0.1 s
	line := newTimeline(&measure.Result{Sent: 100, Tokens: 100, Seconds: 1.5, Samples: []measure.Sample{
		{Seconds: 0.2, Sent: 40, Received: 0}, {Seconds: 0.4, Sent: 80, Received: 0}, {Seconds: 0.6, Sent: 100, Received: 50},
	}}, axis)
	for _, test := range []struct {
		name   string
		points []float64
		at     int
		want   float64
	}{
		{"sent at first", line.sentRate, 0, 200},
		{"sent in between", line.sentRate, 2, 200},
		{"sent after the end", line.sentRate, 5, math.NaN()},
		{"received at first", line.receivedRate, 0, 0},
		{"received later", line.receivedRate, 4, 125},
		{"waiting at first", line.waiting, 0, 0},
		{"waiting between two samples", line.waiting, 3, 60},
		{"waiting at a sample", line.waiting, 4, 80},
		{"waiting at the end", line.waiting, 15, 0},
		{"after the end", line.waiting, 17, math.NaN()},
	} {
		got := test.points[test.at]
		if math.IsNaN(test.want) != math.IsNaN(got) || math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDistribution(t *testing.T) {
	times := latency.New()
	for _, microseconds := range []int64{20, 20, 20, 500} {
		times.Record(microseconds * 1000)
	}
	labels, values := distribution(times.Bars())
	if len(labels) != len(values) || (len(labels)-1)%barsPerLabel != 0 {
		t.Fatalf("%d labels, %d values", len(labels), len(values))
	}
	if labels[0] != "16 us" || labels[barsPerLabel] != "64 us" {
		t.Errorf("labels %q", labels)
	}
	sum := 0.0
	for _, value := range values {
		if !math.IsNaN(value) {
			sum += value
		}
	}
	if sum != 100 || values[1] != 75 {
		t.Errorf("values %v", values)
	}
	if labels, values = distribution(nil); labels != nil || values != nil {
		t.Error("nothing has a distribution")
	}
	short := latency.New()
	short.Record(1)
	if labels, values = distribution(short.Bars()); len(labels) == 0 || values[position(latency.Bar{})+barsPerLabel] != 100 {
		t.Errorf("less than a microsecond: %q %v", labels, values)
	}
}
