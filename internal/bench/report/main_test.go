package report

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/bench/guard"
	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden compares text with a file of testdata.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (go test -update writes it anew):\n%s", path, got)
	}
}

// slowRun is a run of 2,000,000 tokens that the given reader took two seconds for.
func slowRun(reader string, streamSeconds float64) *Run {
	return &Run{Label: reader, StreamTimes: []float64{streamSeconds, streamSeconds - 0.01, streamSeconds + 0.01}, Result: &measure.Result{
		Reader: reader, Policy: "coalesce", Streams: 1,
		Sent: 2_000_000, Tokens: 2_000_000, Lines: 400, Bytes: 30_000_000,
		Seconds: 2.01, StreamSeconds: streamSeconds, SlowestToFastest: 1,
		EventsPerSecond: 1e6, LinesPerSecond: 200, BytesPerSecond: 1.5e7,
		CPUSeconds: 0.4, CPUSecondsPerMillion: 0.2, PeakRSS: 64 << 20, BytesPerStream: 50 << 20,
		Engine: &measure.Counters{Frames: 400, Writes: 70, Merged: 1_999_600, LargestQueue: 19 << 20, ReaderStalls: 1, ReaderStalledS: 1.9},
		Samples: []measure.Sample{
			{Seconds: 0.1, Sent: 900_000, Received: 10}, {Seconds: 0.2, Sent: 1_900_000, Received: 10},
			{Seconds: 0.3, Sent: 2_000_000, Received: 10}, {Seconds: 1.9, Sent: 2_000_000, Received: 500},
		},
	}}
}

func fastRun(streamSeconds float64) *Run {
	r := slowRun(host.ReaderFast, streamSeconds)
	r.Seconds = streamSeconds + 0.001
	r.Engine = &measure.Counters{Frames: 7000, Writes: 7000, Merged: 1_993_000, LargestQueue: 1 << 20}
	r.Samples = []measure.Sample{{Seconds: 0.1, Sent: 900_000, Received: 899_000}, {Seconds: 0.2, Sent: 2_000_000, Received: 1_990_000}}
	return r
}

func pacedRun() *Run {
	r := fastRun(2)
	r.Label, r.Rate, r.Sent, r.Tokens = "fast at 1000/s", 1000, 2000, 2000
	times := latency.New()
	for microseconds := range int64(2000) {
		times.Record(30_000 + 50*microseconds)
	}
	summary := times.Summary()
	r.Latency, r.Latencies = &summary, times.Bars()
	return r
}

// example is a report of what a first-time user runs.
func example() *Report {
	r := &Report{
		Format: Format, Engine: "1.2.3", Server: BuiltIn,
		Machine: Machine{guard.Machine{Processor: "Some Processor 9000", Cores: 4, System: "linux/amd64"}, "go1.26.0"},
		Started: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Setting: Setting{Tokens: 2_000_000, SlowSeconds: 2, Streams: 1, Policy: "coalesce"},
		Runs: []*Run{
			fastRun(0.21), slowRun(host.ReaderThrottled, 0.26), slowRun(host.ReaderStalled, 0.215), pacedRun(),
		},
	}
	r.Compare()
	return r
}
