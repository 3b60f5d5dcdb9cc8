package workload

import (
	"context"
	"fmt"

	"sluice/internal/bench/measure"
)

const mebibyte = 1 << 20

// throughputWorkload is W1: one chat as fast as it is read, with every token its own event and merging.
func throughputWorkload(sizes Sizes) Workload {
	return Workload{
		ID:    "W1",
		Title: fmt.Sprintf("one chat, %d tokens unpaced, fast reader", sizes.Tokens),
		Goals: []Goal{
			{"engine drop", "of_limit", 0.30, true},
			{"engine drop", "us/event", 1.0, false},
		},
		Round: func(ctx context.Context, b *Bench) ([]Row, error) { return throughputRound(ctx, b, sizes) },
	}
}

func throughputRound(ctx context.Context, b *Bench, sizes Sizes) ([]Row, error) {
	// a queue that never fills, so that nothing is dropped
	unbounded := fmt.Sprintf("on_full: drop, queue_frames: %d, pending_bytes: 4GiB", sizes.Tokens+1024)
	drop, err := b.Run(ctx, measure.Load{Tokens: sizes.Tokens, Output: unbounded})
	if err != nil {
		return nil, err
	}
	limit, err := b.runLimit(ctx, measure.Load{Tokens: sizes.Tokens}, drop.Bytes)
	if err != nil {
		return nil, err
	}
	coalesce, err := b.Run(ctx, measure.Load{Tokens: sizes.Tokens, Policy: "coalesce"})
	if err != nil {
		return nil, err
	}
	rows := []Row{throughputRow("engine drop", drop, limit), throughputRow("engine coalesce", coalesce, limit)}
	return append(rows, throughputRow("limit", limit, limit)), nil
}

func throughputRow(program string, r, limit *measure.Result) Row {
	return Row{program, []Metric{
		{"events/s", r.EventsPerSecond},
		{"of_limit", r.EventsPerSecond / limit.EventsPerSecond},
		{"us/event", r.CPUSecondsPerMillion},
		{"lines/s", r.LinesPerSecond},
		{"MB/s", r.BytesPerSecond / 1e6},
		{"lines/write", r.LinesPerWrite()},
		{"rss_MiB", float64(r.PeakRSS) / mebibyte},
	}}
}

// latencyWorkload is W2: one chat at a steady rate, every token carrying its send time.
func latencyWorkload(sizes Sizes, rate float64) Workload {
	tokens := max(1, int(rate*sizes.Paced.Seconds()))
	goals := []Goal{{"engine", "cpu_ratio", 5, false}}
	if rate == 1000 {
		goals = append(goals, Goal{"engine", "p50_ratio", 2.2, false}, Goal{"engine", "p99_ratio", 2.5, false})
	}
	return Workload{
		ID:    fmt.Sprintf("W2/%g", rate),
		Title: fmt.Sprintf("one chat, %d tokens at %g a second, latency and CPU against a C copier", tokens, rate),
		Goals: goals,
		Round: func(ctx context.Context, b *Bench) ([]Row, error) {
			wanted := measure.Load{Tokens: tokens, Rate: rate}
			engine, err := b.Run(ctx, wanted)
			if err != nil {
				return nil, err
			}
			copier, err := b.runCopier(ctx, wanted)
			if err != nil {
				return nil, err
			}
			return []Row{latencyRow("engine", engine, copier), latencyRow("copier", copier, copier)}, nil
		},
	}
}

func latencyRow(program string, r, copier *measure.Result) Row {
	return Row{program, []Metric{
		{"p50_us", r.Latency.P50},
		{"p99_us", r.Latency.P99},
		{"p99.9_us", r.Latency.P999},
		{"cpu_us/token", r.CPUSecondsPerMillion},
		{"p50_ratio", r.Latency.P50 / copier.Latency.P50},
		{"p99_ratio", r.Latency.P99 / copier.Latency.P99},
		{"cpu_ratio", r.CPUSecondsPerMillion / copier.CPUSecondsPerMillion},
		{"lines/write", r.LinesPerWrite()},
	}}
}
