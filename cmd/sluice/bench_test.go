package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/report"
	"sluice/internal/bench/tokens"
)

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBenchRefuses: one line that says what to do, before anything is measured.
func TestBenchRefuses(t *testing.T) {
	folder := t.TempDir()
	config := filepath.Join(folder, "config.yaml")
	writeText(t, config, "models: [{name: default, path: x.gguf}]\n")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"extra"}, "extra"},
		{[]string{"--reader", "fats"}, "fast, throttled, bursty, stalled, trickle, closed"},
		{[]string{"--reader", "fast,fast"}, "once"},
		{[]string{"--reader", ""}, "at least one"},
		{[]string{"--reader", "fast,,stalled"}, "once"},
		{[]string{"--policy", "discard"}, "coalesce, drop"},
		{[]string{"--tokens", "-1"}, "--tokens"},
		{[]string{"--tokens", "many"}, "many"},
		{[]string{"--tokens", "99999999"}, "16777216"},
		{[]string{"--rate", "-1"}, "1000000"},
		{[]string{"--rate", "NaN"}, "1000000"},
		{[]string{"--rate", "2000000"}, "1000000"},
		{[]string{"--streams", "0"}, "--streams"},
		{[]string{"--streams", "5000"}, "1024"},
		{[]string{"--duration", "-1s"}, "--duration"},
		{[]string{"--duration", "10"}, "10"},
		{[]string{"--stall", "0s"}, "--stall"},
		{[]string{"--report", filepath.Join(folder, "none", "out.html")}, "a file that can be written"},
		{[]string{"--report", folder}, "a file that can be written"},
		{[]string{"--url", "127.0.0.1:8080"}, "http://127.0.0.1:8080"},
		{[]string{"--url", "ftp://127.0.0.1"}, "http://127.0.0.1:8080"},
		{[]string{"--url", "http://user:secret@127.0.0.1"}, "http://127.0.0.1:8080"},
		{[]string{"--url", "http://127.0.0.1:9?key=secret"}, "http://127.0.0.1:8080"},
		{[]string{"--url", "http://127.0.0.1:9#secret"}, "http://127.0.0.1:8080"},
		{[]string{"--url", "http://127.0.0.1:8080", "--config", config}, "one of them"},
		{[]string{"--config", config}, "llama_server.url"},
		{[]string{"--config", filepath.Join(folder, "none.yaml")}, "none.yaml"},
	} {
		status, stdout, stderr := command(t, "", append([]string{"bench"}, test.args...)...)
		if status != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "secret") {
			t.Errorf("%q: status %d, stdout %q, stderr %q", test.args, status, stdout, stderr)
		}
	}
}

// TestBenchOfAServerThatIsNotThere is a failure of the thing asked for.
func TestBenchOfAServerThatIsNotThere(t *testing.T) {
	loading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{gone.URL: "no server answers", loading.URL: "not ready"} {
		status, stdout, stderr := command(t, "", "bench", "--url", url)
		if status != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
	}
	loading.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestBenchRatesAreForTheLoadServer: a server of one's own has a pace of its own.
func TestBenchRatesAreForTheLoadServer(t *testing.T) {
	flags := benchFlags{readers: []string{"fast"}, rate: 10, streams: 1, slow: time.Second, paced: true}
	if _, err := flags.plan(true); err == nil || !strings.Contains(err.Error(), "leave out --rate") {
		t.Errorf("got %v", err)
	}
}

func TestBenchPlan(t *testing.T) {
	flags := benchFlags{readers: []string{"throttled", " fast"}, streams: 2, slow: time.Second, policy: "drop"}
	rounds := strings.TrimSuffix(strings.Repeat("throttled, fast, ", benchRounds), ", ")
	for _, test := range []struct {
		name   string
		change func(*benchFlags)
		own    bool
		labels string
		tokens int // of the first load
	}{
		{"unpaced", func(*benchFlags) {}, false, rounds + ", fast at 1000/s", unpacedTokens},
		{"unpaced and said so", func(f *benchFlags) { f.paced = true }, false, rounds, unpacedTokens},
		{"paced", func(f *benchFlags) { f.paced, f.rate = true, 50 }, false, "throttled, fast", 500},
		{"for a time", func(f *benchFlags) { f.duration = time.Minute }, false, "throttled, fast, fast at 1000/s", 0},
		{"without a fast reader", func(f *benchFlags) { f.readers = []string{"stalled", "closed"} }, false, "stalled, closed, fast at 1000/s", unpacedTokens},
		{"an own server", func(*benchFlags) {}, true, "throttled, fast", ownServerTokens},
		{"tokens", func(f *benchFlags) { f.tokens = 300 }, false, rounds + ", fast at 1000/s", 300},
	} {
		f := flags
		test.change(&f)
		loads, err := f.plan(test.own)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var labels []string
		for _, l := range loads {
			labels = append(labels, l.label)
			if l.Policy != "drop" || l.SlowFor != time.Second && !l.again || l.SampleEvery == 0 {
				t.Errorf("%s: %s: %+v", test.name, l.label, l.Load)
			}
		}
		if got := strings.Join(labels, ", "); got != test.labels || loads[0].Tokens != test.tokens || loads[0].Streams != 2 {
			t.Errorf("%s: %s, %+v", test.name, got, loads[0].Load)
		}
	}
}

// TestBenchBound: only beyond it may text be missing.
func TestBenchBound(t *testing.T) {
	for _, test := range []struct {
		load measure.Load
		want bool
	}{
		{measure.Load{Tokens: unpacedTokens, Streams: 1, Reader: host.Model{Reader: host.ReaderStalled}}, false},
		{measure.Load{Tokens: unpacedTokens, Streams: 8, Reader: host.Model{Reader: host.ReaderStalled}}, true},
		{measure.Load{Tokens: unpacedTokens, Streams: 8, Reader: host.Model{Reader: host.ReaderFast}}, false},
		{measure.Load{Tokens: 4 * unpacedTokens, Streams: 1, Rate: 1e6, Reader: host.Model{Reader: host.ReaderTrickle}}, true},
		{measure.Load{During: time.Second, Streams: 1, Reader: host.Model{Reader: host.ReaderThrottled}}, true},
	} {
		if got := mayLose(test.load); got != test.want {
			t.Errorf("%+v: %v", test.load, got)
		}
	}
}

// TestBenchProbeIsNoLongerThanTheOthers, and one stream of them.
// TestBenchReaderGoesAwayInTime: before the stream is over, however short it is.
func TestBenchReaderGoesAwayInTime(t *testing.T) {
	for _, test := range []struct {
		flags     benchFlags
		ownServer bool
		most      int // bytes
	}{
		{benchFlags{duration: time.Nanosecond}, false, 1},
		{benchFlags{duration: time.Second, rate: 100}, false, 100 * tokens.PlainWidth / 2},
		{benchFlags{duration: time.Hour, tokens: 10}, false, 10 * tokens.PlainWidth / 2},
		{benchFlags{duration: time.Hour}, false, 1 << 20},
		{benchFlags{tokens: 10}, true, 10 * ownServerWidth / 2},
	} {
		test.flags.streams, test.flags.slow = 1, time.Second
		if got := test.flags.load(host.ReaderClosed, test.ownServer).Reader.CloseAfter; got < 1 || got > test.most {
			t.Errorf("%+v: after %d bytes", test.flags, got)
		}
	}
}

func TestBenchProbe(t *testing.T) {
	f := benchFlags{streams: 8, tokens: 50, slow: time.Second}
	if l := f.probe(); l.Streams != 1 || l.Tokens != 50 || l.Rate != probeRate || l.Reader.Reader != host.ReaderFast {
		t.Errorf("%+v", l.Load)
	}
}

func TestBenchReportFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeText(t, "there.html", strings.Repeat("old", 100_000))
	for _, name := range []string{"there.html", "new.html"} {
		file, err := openReport(name)
		if err != nil {
			t.Fatal(err)
		}
		file.discard()
	}
	if text, err := os.ReadFile("there.html"); err != nil || len(text) != 300_000 {
		t.Errorf("a report that was never written changed its file: %d bytes, %v", len(text), err)
	}
	if _, err := os.Stat("new.html"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a report that was never written left its file: %v", err)
	}
	file, err := openReport("there.html")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.write(&report.Report{}); err != nil {
		t.Fatal(err)
	}
	file.discard()
	text, err := os.ReadFile("there.html")
	if err != nil || !strings.HasPrefix(string(text), "<!DOCTYPE html>") || !strings.HasSuffix(string(text), "</html>\n") {
		t.Errorf("the page is %.80q (%v)", text, err)
	}
}

func TestBenchProgressText(t *testing.T) {
	const furniture = len(`| ` + ` 1234567 s`) // of the console
	for _, reader := range host.Readers {
		for _, sample := range []measure.Sample{{}, {Sent: 1}, {Received: 1_234_567}, {Sent: 16_777_215 * 1024, Received: 12_345}, {Sent: 5, Received: 6}} {
			l := benchLoad{label: reader, Load: measure.Load{Tokens: 16_777_216, Streams: 1024, Reader: host.Model{Reader: reader}}}
			text := progressText("12/13", l, sample)
			if len(text)+furniture >= 80 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		}
	}
	stalled := host.Model{Reader: host.ReaderStalled}
	for _, test := range []struct {
		load   measure.Load
		sample measure.Sample
		want   string
	}{
		{measure.Load{Tokens: 100, Streams: 2}, measure.Sample{Seconds: 9, Sent: 50, Received: 10}, "[#####...............] 50 sent"},
		{measure.Load{Tokens: 100, Streams: 2, Reader: stalled, SlowFor: 10 * time.Second}, measure.Sample{Seconds: 1, Sent: 200, Received: 10}, "[##..................] 200 sent, 190 unread"},
		{measure.Load{Tokens: 100, Streams: 2, Reader: stalled, SlowFor: time.Second}, measure.Sample{Seconds: 9, Sent: 50, Received: 10}, "[#####...............] 50 sent, 40 unread"},
		{measure.Load{Streams: 1, During: 4 * time.Second}, measure.Sample{Seconds: 1, Sent: 50, Received: 10}, "[#####...............] 50 sent"},
		{measure.Load{Tokens: 100, Streams: 1}, measure.Sample{Seconds: 1, Received: 10}, "10 received"},
	} {
		test.load.Reader.Reader = max(test.load.Reader.Reader, host.ReaderFast)
		if got := progressText("1/2", benchLoad{label: "x", Load: test.load}, test.sample); got != "1/2 x "+test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestBenchKeepsWhatARunHadBeforeItWasCut(t *testing.T) {
	l := benchLoad{label: "stalled", Load: measure.Load{Streams: 2, Reader: host.Model{Reader: host.ReaderStalled}, Policy: "drop"}}
	if r := partial(l, nil); r != nil {
		t.Errorf("of nothing remains %+v", r)
	}
	r := partial(l, []measure.Sample{{Seconds: 1, Sent: 5}, {Seconds: 2, Sent: 30, Received: 10}, {Seconds: 3, Sent: 30, Received: 10}})
	if r.Reader != host.ReaderStalled || r.Streams != 2 || r.Sent != 30 || r.Tokens != 10 || r.EventsPerSecond != 15 || r.Lost != 0 || len(r.Samples) != 3 {
		t.Errorf("got %+v", r)
	}
}

func TestBenchVerdict(t *testing.T) {
	whole := &report.Run{Label: "fast", Result: &measure.Result{}}
	lost := &report.Run{Label: "stalled", Result: &measure.Result{Lost: 1}}
	for _, test := range []struct {
		report report.Report
		want   string // empty is none
	}{
		{report.Report{Runs: []*report.Run{whole}}, ""},
		{report.Report{Runs: []*report.Run{whole}, Interrupted: true}, "interrupted"},
		{report.Report{Runs: []*report.Run{whole, lost}}, "the run stalled failed"},
		{report.Report{Runs: []*report.Run{{Label: "fast", Error: "oh"}}}, "the run fast failed"},
	} {
		err := verdict(&test.report)
		var failed *failure
		switch {
		case test.want == "" && err != nil:
			t.Errorf("got %v", err)
		case test.want != "" && (!errors.As(err, &failed) || failed.status != exitFailed || failed.message != test.want):
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// TestBenchPrintsWhatItHas although something went wrong at the end.
func TestBenchPrintsWhatItHas(t *testing.T) {
	ended := errors.New("the load server: killed")
	for runs, want := range map[*report.Run]string{
		nil: ended.Error(),
		{Label: "fast", Result: &measure.Result{}}: ended.Error(),
		{Label: "fast", Error: "oh"}:               "the run fast failed",
	} {
		r := &report.Report{}
		if runs != nil {
			r.Runs = append(r.Runs, runs)
		}
		var stdout strings.Builder
		err := (&benchFlags{}).conclude(r, ended, &reportFile{}, streams{out: &stdout})
		var failed *failure
		if !errors.As(err, &failed) || failed.status != exitFailed || failed.message != want {
			t.Errorf("got %v, want %q", err, want)
		}
		if (stdout.Len() > 0) != (runs != nil) {
			t.Errorf("printed was %q", stdout.String())
		}
	}
}

// TestBenchKeyIsHandedOnUnseen: not as an argument, which everybody on the machine may read.
func TestBenchKeyIsHandedOnUnseen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	t.Setenv(apiKeyVariable, "secret")
	flags := benchFlags{url: server.URL}
	target, err := flags.target(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := target.environment(); !slices.Equal(got, []string{apiKeyVariable + "=secret"}) {
		t.Errorf("got %q", got)
	}
	text, err := json.Marshal(flags.newReport(target))
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("the report is %s (%v)", text, err)
	}
}
