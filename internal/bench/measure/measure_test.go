package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
	"sluice/internal/bench/standin"
)

// TestMain lets the test binary play the load server and the engine.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "load-server":
		err = load.ServeUntilEnd(os.Stdin, os.Stdout)
	case standin.Wanted(os.Args[1:]):
		err = standin.Run(os.Args[1:], os.Stdin, os.Stdout)
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openSession(t *testing.T, options Options) *Session {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	options.Engine = os.Args[0]
	if options.URL == "" {
		options.LoadServer = []string{os.Args[0], "load-server"}
	}
	s, err := Open(context.Background(), options) // the test's own context ends before its clean-up
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEveryReaderGetsEverything(t *testing.T) {
	s := openSession(t, Options{})
	for _, reader := range host.Readers {
		for _, socketPair := range []bool{false, true} {
			r, err := s.Run(t.Context(), Load{
				Tokens: 3000, SocketPair: socketPair, SlowFor: 20 * time.Millisecond,
				Reader: host.Model{Reader: reader, CloseAfter: 10_000},
			})
			if err != nil {
				t.Errorf("%s: %v", reader, err)
				continue
			}
			if r.Reader != reader || r.SocketPair != socketPair || r.Sent != 3000 || r.Lost != 0 {
				t.Errorf("%s: %+v", reader, r)
			}
			if gone := reader == host.ReaderClosed; gone != (r.Tokens < 3000) || gone != (r.Engine == nil) {
				t.Errorf("%s: %d tokens, %+v", reader, r.Tokens, r.Engine)
			}
		}
	}
}

func TestManyChatsAtOnce(t *testing.T) {
	s := openSession(t, Options{})
	r, err := s.Run(t.Context(), Load{Tokens: 20, Rate: 1000, Streams: 9})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tokens != 180 || r.Streams != 9 || r.Latency == nil || r.Latency.Count != 180 || len(r.Latencies) == 0 {
		t.Errorf("%+v", r)
	}
	if r.SlowestToFastest <= 0 || r.SlowestToFastest > 1 || r.Engine.LargestQueue != 77 {
		t.Errorf("%v, %+v", r.SlowestToFastest, r.Engine)
	}
}

func TestLoadLastsForItsTime(t *testing.T) {
	s := openSession(t, Options{})
	r, err := s.Run(t.Context(), Load{Rate: 500, During: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Sent < 1 || r.Sent > 25 || r.Tokens != r.Sent {
		t.Errorf("%d tokens of %d", r.Tokens, r.Sent)
	}
}

func TestSamplesTellHowFarARunIs(t *testing.T) {
	s := openSession(t, Options{})
	var told atomic.Int64
	for range 2 { // the second doesn't count what the first sent
		told.Store(0)
		r, err := s.Run(t.Context(), Load{
			Tokens: 100, Rate: 1000, SampleEvery: 5 * time.Millisecond, Progress: func(Sample) { told.Add(1) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Samples) == 0 || int(told.Load()) != len(r.Samples) {
			t.Fatalf("%d samples, %d told", len(r.Samples), told.Load())
		}
		last := Sample{}
		for _, sample := range r.Samples {
			if sample.Seconds <= last.Seconds || sample.Sent < last.Sent || sample.Sent > 100 || sample.Received > sample.Sent {
				t.Errorf("%+v after %+v", sample, last)
			}
			last = sample
		}
	}
}

// TestReaderThatStaysToTheEnd is an error, and not waited for.
func TestReaderThatStaysToTheEnd(t *testing.T) {
	s := openSession(t, Options{})
	_, err := s.Run(t.Context(), Load{Tokens: 10, Reader: host.Model{Reader: host.ReaderClosed, CloseAfter: 1 << 20}})
	if !errors.Is(err, errNotGone) {
		t.Errorf("got %v", err)
	}
}

func TestServerOfTheUsersOwn(t *testing.T) {
	server, err := load.Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	s := openSession(t, Options{URL: "http://" + server.Address() + "/"})
	for _, reader := range host.Readers {
		r, err := s.Run(t.Context(), Load{
			Streams: 2, Prompt: "n=300 please", SlowFor: 20 * time.Millisecond, Reader: host.Model{Reader: reader, CloseAfter: 20_000},
		})
		if err != nil {
			t.Errorf("%s: %v", reader, err)
			continue
		}
		if reader != host.ReaderClosed && r.Tokens != 600 || r.StreamSeconds != 0 || r.Latency != nil {
			t.Errorf("%s: %+v", reader, r)
		}
	}
	for _, l := range []Load{{Rate: 1}, {During: time.Second}} {
		if _, err := s.Run(t.Context(), l); err == nil || !strings.Contains(err.Error(), "a server of your own") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if config := s.attached(Load{maxTokens: 7}); !strings.Contains(config, "max_tokens: 7") {
		t.Errorf("the number of tokens isn't told: %s", config)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestFaultyEnginesAreNotMeasured(t *testing.T) {
	for _, test := range []struct {
		fault string
		load  Load
		want  string
	}{
		{standin.Loses, Load{}, "1 tokens lost"},
		{standin.Loses, Load{Streams: 3}, "1 tokens lost"},
		{standin.Loses, Load{Policy: "drop"}, "1 tokens are missing and 0 events dropped"},
		{standin.Drops, Load{}, "1 tokens lost"},
		{standin.Drops, Load{Policy: "drop"}, ""},
		{standin.Repeats, Load{}, "after token"},
		{standin.Fails, Load{}, "ended in an error"},
		{standin.Dies, Load{Reader: host.Model{Reader: host.ReaderClosed, CloseAfter: 1000}}, host.ErrExited.Error()},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Setenv(standin.Variable, test.fault)
			s := openSession(t, Options{})
			test.load.Tokens = 3000
			_, err := s.Run(t.Context(), test.load)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Run: %v, want %q", err, test.want)
			}
		})
	}
}

func TestWrongLoadsAreToldBeforeTheyRun(t *testing.T) {
	for want, wrong := range map[string]Load{
		"tokens":                    {Tokens: -1},
		"tokens are not between":    {Tokens: 1 << 30},
		"tokens per second":         {Rate: -1},
		"streams are not":           {Streams: 2000},
		"duration":                  {During: -1},
		"one of coalesce, drop":     {Policy: "wait"},
		"no reader is called \"x\"": {Reader: host.Model{Reader: "x"}},
	} {
		if _, err := (&Session{}).Run(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestMissingEngineIsNamed(t *testing.T) {
	_, err := Open(t.Context(), Options{Engine: "no/such/engine"})
	if err == nil || !strings.Contains(err.Error(), `"no/such/engine"`) {
		t.Errorf("Open: %v", err)
	}
}

func TestInterruptedRunEnds(t *testing.T) {
	s := openSession(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	l := Load{Tokens: 1_000_000, Rate: 10, SampleEvery: time.Millisecond, Progress: func(Sample) { cancel() }}
	if _, err := s.Run(ctx, l); err == nil {
		t.Error("it went on")
	}
}
