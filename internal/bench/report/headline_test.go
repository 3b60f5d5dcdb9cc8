package report

import (
	"strings"
	"testing"

	"sluice/internal/bench/host"
)

func TestHeadlines(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Report)
		first  string // headline, or its begin
	}{
		{"within the noise", func(r *Report) {},
			"A reader that stalled for 2 s cost the model 0 % within this machine's noise, no text lost: its stream took 215 ms (205 ms to 225 ms), with a fast reader 210 ms (200 ms to 220 ms)."},
		{"faster", func(r *Report) { r.Runs[2].StreamTimes = []float64{0.19} }, "A reader that stalled for 2 s cost the model 0 %, no text lost: its stream took 190 ms"},
		{"slower", func(r *Report) { r.Runs[2].StreamTimes = []float64{2.1} }, "A reader that stalled for 2 s cost the model 900 %, no text lost"},
		{"lost", func(r *Report) { r.Runs[2].Lost = 1200 }, "A reader that stalled for 2 s cost the model 0 % within this machine's noise, 1,200 tokens of text lost"},
		{"one fast run", func(r *Report) { r.Runs[0].StreamTimes, r.Runs[2].StreamTimes = []float64{0.21}, []float64{0.215} }, "A reader that stalled for 2 s cost the model 2 %, no text lost: its stream took 215 ms, with a fast reader 210 ms."},
		{"no fast run", func(r *Report) { r.Runs = r.Runs[1:] }, "A reader that stalled for 2 s had 2,000,000 tokens after 2.01 s, no text lost: its stream took 215 ms (205 ms to 225 ms)."},
		{"own server", func(r *Report) { r.Server, r.Runs = "http://x", r.Runs[2:3]; r.Runs[0].StreamTimes = nil },
			"A reader that stalled for 2 s had 2,000,000 deltas after 2.01 s, no text lost."},
		{"throttled", func(r *Report) { r.Runs = r.Runs[:2] }, "A reader that took 64 KB/s for 2 s cost the model 24 %"},
		{"closed", func(r *Report) { r.Runs[2].Reader = host.ReaderClosed; r.Runs = append(r.Runs[:1], r.Runs[2]) }, "A reader that went away cost the model 0 % within this machine's noise, the engine went on serving"},
		{"bursty", func(r *Report) { r.Runs[2].Reader = host.ReaderBursty; r.Runs = append(r.Runs[:1], r.Runs[2]) }, "A reader that paused for 100 ms between bursts cost"},
		{"trickle", func(r *Report) { r.Runs[2].Reader = host.ReaderTrickle; r.Runs = append(r.Runs[:1], r.Runs[2]) }, "A reader that took one byte a read for 2 s cost"},
		{"fast", func(r *Report) { r.Runs = r.Runs[:1] }, "A fast reader was handed 9.52 M tokens a second: the engine used 0.2 us of processor time for each."},
		{"paced", func(r *Report) { r.Runs = r.Runs[3:] }, "At 1,000 tokens a second half of them reach a fast reader within "},
		{"failed", func(r *Report) { r.Runs = []*Run{{Label: "fast", Error: "3 tokens lost"}} }, "The run fast failed: 3 tokens lost."},
		{"nothing", func(r *Report) { r.Runs = nil }, "No run came to its end."},
	}
	for _, test := range tests {
		r := example()
		test.change(r)
		r.Compare()
		if got := r.Headlines()[0].String(); !strings.HasPrefix(got, test.first) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Scaled(0), "0"}, {Scaled(7), "7"}, {Scaled(999), "999"}, {Scaled(999.96), "1 k"}, {Scaled(1234), "1.23 k"}, {Scaled(1_900_000), "1.9 M"}, {Scaled(2.5e9), "2.5 G"},
		{digits(0.123), "0.12"}, {digits(12.34), "12.3"}, {digits(123.4), "123"}, {digits(100), "100"},
		{byteSize(0), "0 B"}, {byteSize(1023), "1023 B"}, {byteSize(1024), "1 KiB"}, {byteSize(1<<20 - 1), "1 MiB"}, {byteSize(3 << 30), "3 GiB"},
		{span(0), "0 s"}, {span(2), "2 s"}, {span(0.25), "250 ms"}, {span(0.0000121), "12.1 us"}, {span(0.99999), "1 s"}, {microseconds(1500), "1.5 ms"},
		{percent(0.9), "0 %"}, {percent(1.004), "0 %"}, {percent(1.26), "26 %"},
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(1000), "1,000"}, {grouped(12345678), "12,345,678"},
		{counted(1, "core"), "1 core"}, {counted(1000, "core"), "1,000 cores"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestSetting(t *testing.T) {
	r := example()
	r.Setting = Setting{Rate: 50, DurationSeconds: 3, Streams: 8, Policy: "drop", SocketPair: true}
	if got, want := r.setting(), "built-in load server, 8 streams, at most 3 s, 50 tokens/s, drop, socket pairs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Server, r.Setting = "http://127.0.0.1:1", Setting{Tokens: 512, Streams: 1, Policy: "coalesce"}
	if got, want := r.setting(), "http://127.0.0.1:1, 1 stream, at most 512 tokens each, coalesce, pipes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
