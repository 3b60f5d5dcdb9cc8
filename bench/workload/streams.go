package workload

import (
	"context"
	"fmt"
)

const mebibyte = 1 << 20

// throughput is W1: one chat as fast as it is read, with every token its own event and merging.
func throughput(sizes Sizes) Workload {
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
	drop, err := b.runEngine(ctx, demand{tokens: sizes.Tokens, output: unbounded})
	if err != nil {
		return nil, err
	}
	limit, err := b.runLimit(ctx, demand{tokens: sizes.Tokens}, drop.report.Bytes)
	if err != nil {
		return nil, err
	}
	coalesce, err := b.runEngine(ctx, demand{tokens: sizes.Tokens, output: "on_full: coalesce"})
	if err != nil {
		return nil, err
	}
	rows := []Row{throughputRow("engine drop", drop, limit), throughputRow("engine coalesce", coalesce, limit)}
	return append(rows, throughputRow("limit", limit, limit)), nil
}

func throughputRow(program string, r, limit *run) Row {
	events := r.perSecond(r.report.Tokens)
	return Row{program, []Metric{
		{"events/s", events},
		{"of_limit", events / limit.perSecond(limit.report.Tokens)},
		{"us/event", r.cpuPerToken()},
		{"lines/s", r.perSecond(r.report.Lines)},
		{"lines/write", r.linesPerWrite},
		{"rss_MiB", float64(r.peakRSS) / mebibyte},
	}}
}

// latency is W2: one chat at a steady rate, every token carrying its send time.
func latency(sizes Sizes, rate float64) Workload {
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
			wanted := demand{tokens: tokens, rate: rate}
			engine, err := b.runEngine(ctx, wanted)
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

func latencyRow(program string, r, copier *run) Row {
	return Row{program, []Metric{
		{"p50_us", r.latency(0.5)},
		{"p99_us", r.latency(0.99)},
		{"p99.9_us", r.latency(0.999)},
		{"cpu_us/token", r.cpuPerToken()},
		{"p50_ratio", r.latency(0.5) / copier.latency(0.5)},
		{"p99_ratio", r.latency(0.99) / copier.latency(0.99)},
		{"cpu_ratio", r.cpuPerToken() / copier.cpuPerToken()},
		{"lines/write", r.linesPerWrite},
	}}
}
