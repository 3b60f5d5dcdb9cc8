package workload

import (
	"context"
	"fmt"

	"sluice/internal/bench/measure"
	"sluice/internal/bench/tokens"
)

const (
	kibibyte = 1 << 10
	// chatRate is how many tokens per second a model gives each of many chats.
	chatRate = 50
)

// chatsWorkload is W4: many chats at once, at a model's pace and as fast as they are read.
func chatsWorkload(sizes Sizes, count int) Workload {
	w := Workload{
		ID:    fmt.Sprintf("W4/%d", count),
		Title: fmt.Sprintf("%d chats at once, %d tokens a second each for %v, then %d tokens in all unpaced", count, chatRate, sizes.Paced, sizes.ChatTokens),
		Round: func(ctx context.Context, b *Bench) ([]Row, error) { return chatsRound(ctx, b, sizes, count) },
	}
	if count >= 512 {
		// unpaced chats are over within a second or two, so that their spread tells of their start
		w.Goals = []Goal{{"engine paced", "KiB/stream_less_text", 96, false}, {"engine paced", "slowest/fastest", 0.8, true}}
	}
	return w
}

func chatsRound(ctx context.Context, b *Bench, sizes Sizes, count int) ([]Row, error) {
	paced, err := b.Run(ctx, measure.Load{
		Streams: count, Rate: chatRate, Tokens: max(1, int(chatRate*sizes.Paced.Seconds())),
	})
	if err != nil {
		return nil, fmt.Errorf("paced: %w", err)
	}
	unpaced, err := b.Run(ctx, measure.Load{Streams: count, Tokens: max(1, sizes.ChatTokens/count)})
	if err != nil {
		return nil, fmt.Errorf("unpaced: %w", err)
	}
	rows := []Row{chatsRow("engine paced", paced), chatsRow("engine unpaced", unpaced)}
	rows[0].Metrics = append(rows[0].Metrics, Metric{"p50_us", paced.Latency.P50}, Metric{"p99_us", paced.Latency.P99})
	return rows, nil
}

func chatsRow(program string, r *measure.Result) Row {
	width := tokens.PlainWidth
	if r.Rate > 0 {
		width = tokens.TimedWidth
	}
	text := float64(r.Sent * width / r.Streams) // an answer repeats it all
	return Row{program, []Metric{
		{"events/s", r.EventsPerSecond},
		{"us/event", r.CPUSecondsPerMillion},
		{"cpu_ms/stream", 1e3 * r.CPUSeconds / float64(r.Streams)},
		{"KiB/stream", float64(r.BytesPerStream) / kibibyte},
		{"KiB/stream_less_text", (float64(r.BytesPerStream) - text) / kibibyte},
		{"slowest/fastest", r.SlowestToFastest},
		{"lines/write", r.LinesPerWrite()},
		{"rss_MiB", float64(r.PeakRSS) / mebibyte},
	}}
}
