// Package bench shows the engine's figures as Go benchmarks:
//
//	go test -bench . -benchtime=1x                 # small sizes, as a check that all of it works
//	SLUICE=/path/to/sluice go test -bench W1       # another engine
//
// Each benchmark goes through a workload once for every iteration and reports the medians. The full
// sizes and all values come from cmd/sluicebench. Benchmarks run one after another; each closes what
// it opened.
package bench

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/bench/roles"
	"sluice/bench/workload"
)

// TestMain lets the test binary play the load server and the limit.
func TestMain(m *testing.M) {
	if status, played := roles.Run(os.Args[1:]); played {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// sizes keep one round of everything within a few seconds.
var sizes = workload.Sizes{
	Tokens: 200_000, Rates: []float64{100, 1000, 10_000}, Paced: 500 * time.Millisecond,
	Chats: []int{1, 8, 64, 512}, ChatTokens: 200_000, Lines: 200_000,
	SlowTokens: 200_000, Stall: 200 * time.Millisecond, Spawns: 8, Pings: 500, Pipelined: 20_000,
}

func BenchmarkWorkloads(b *testing.B) {
	for _, w := range workload.All(sizes) {
		b.Run(w.ID, func(b *testing.B) { runWorkload(b, w) })
	}
}

func runWorkload(b *testing.B, w workload.Workload) {
	ctx := context.Background()
	bench, err := workload.Open(ctx, workload.Options{Engine: cmp.Or(os.Getenv("SLUICE"), "../bin/sluice")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := bench.Close(); err != nil {
			b.Error(err)
		}
	}()
	result, err := w.Run(ctx, bench, b.N, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op") // the time of a whole workload says nothing
	for _, program := range result.Programs {
		for _, series := range program.Metrics {
			b.ReportMetric(series.Median, strings.ReplaceAll(program.Program, " ", "_")+":"+series.Name)
		}
	}
}
