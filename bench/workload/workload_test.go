package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/bench/roles"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/standin"
)

// TestMain lets the test binary play the load server, the limit and the stand-in for the engine.
func TestMain(m *testing.M) {
	if status, played := roles.Run(os.Args[1:]); played {
		os.Exit(status)
	}
	if standin.Wanted(os.Args[1:]) {
		if err := standin.Run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func openBench(t *testing.T, options Options) *Bench {
	t.Helper()
	options.Engine = os.Args[0]
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	b, err := Open(context.Background(), options) // the test's own context ends before its clean-up
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

var smallSizes = Sizes{
	Tokens: 3000, Rates: []float64{1000}, Paced: 50 * time.Millisecond, SlowTokens: 3000,
	Stall: 10 * time.Millisecond, Chats: []int{2}, ChatTokens: 1000, Lines: 1000, Spawns: 2, Pings: 20, Pipelined: 500,
}

func TestAllWorkloadsRunToTheirGoals(t *testing.T) {
	b := openBench(t, Options{})
	for _, w := range All(smallSizes) {
		rounds := 0
		result, err := w.Run(t.Context(), b, 2, func(int) { rounds++ })
		if err != nil {
			t.Fatal(err)
		}
		if rounds != 2 || len(result.Goals) != len(w.Goals) || len(result.Programs) < 2 {
			t.Errorf("%s: %d rounds, %d goals, %d programs", w.ID, rounds, len(result.Goals), len(result.Programs))
		}
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("%s: %v", w.ID, err)
		}
		for _, program := range result.Programs {
			for _, series := range program.Metrics {
				if len(series.Values) != 2 {
					t.Errorf("%s: %s of %s has %d values", w.ID, series.Name, program.Program, len(series.Values))
				}
			}
		}
	}
}

func TestLimitWritesAsManyBytesAsTheEngine(t *testing.T) {
	b := openBench(t, Options{})
	load := measure.Load{Tokens: 5000}
	engine, err := b.Run(t.Context(), load)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := b.runLimit(t.Context(), load, engine.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if limit.Bytes != engine.Bytes || limit.CPUSeconds <= 0 || limit.PeakRSS <= 0 {
		t.Errorf("limit: %+v; engine: %d bytes", limit, engine.Bytes)
	}
}

func TestProgramsRunOverSocketPairs(t *testing.T) {
	b := openBench(t, Options{SocketPair: true})
	for _, w := range All(smallSizes) {
		if _, err := w.Run(t.Context(), b, 1, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingEngineIsNamed(t *testing.T) {
	_, err := Open(t.Context(), Options{Engine: "no/such/engine"})
	if err == nil || !strings.Contains(err.Error(), `"no/such/engine"`) {
		t.Errorf("Open: %v", err)
	}
}

func TestFailedRoundIsToldWithTheRoundsBefore(t *testing.T) {
	cause := errors.New("cause")
	for before := range 3 {
		round := 0
		w := Workload{
			ID: "W0", Goals: []Goal{{"engine", "speed", 2, true}},
			Round: func(context.Context, *Bench) ([]Row, error) {
				if round++; round > before {
					return nil, cause
				}
				return []Row{{"engine", []Metric{{"speed", 3}}}}, nil
			},
		}
		result, err := w.Run(t.Context(), nil, 5, nil)
		if !errors.Is(err, cause) || (result == nil) != (before == 0) {
			t.Errorf("after %d rounds: %+v, %v", before, result, err)
		}
		if result != nil && (result.Rounds != before || result.Median("engine", "speed") != 3 || !result.Goals[0].Met) {
			t.Errorf("after %d rounds: %+v", before, result)
		}
	}
}

func TestMediansAndGoals(t *testing.T) {
	values := []float64{5, 1, 3, 2}
	round := 0
	w := Workload{
		ID: "W0", Title: "title",
		Goals: []Goal{{"engine", "speed", 2, true}, {"engine", "speed", 2, false}},
		Round: func(context.Context, *Bench) ([]Row, error) {
			round++
			return []Row{{"engine", []Metric{{"speed", values[round-1]}}}, {"peer", []Metric{{"weight", 1234.5}}}}, nil
		},
	}
	result, err := w.Run(t.Context(), nil, len(values), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Median("engine", "speed"); got != 2.5 {
		t.Errorf("the median is %v, want 2.5", got)
	}
	var table bytes.Buffer
	if err := result.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"W0: title; median of 4 rounds", "speed     2.5", "weight          1234",
		"goal: engine speed at least 2: 2.5, met", "goal: engine speed at most 2: 2.5, missed",
	}
	for _, line := range want {
		if !strings.Contains(table.String(), line) {
			t.Errorf("%q is missing in\n%s", line, table.String())
		}
	}
}
