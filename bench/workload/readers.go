package workload

import (
	"context"
	"fmt"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/tokens"
)

// readersWorkload is W3: a reader of each model while the stream arrives; the stream must not notice.
func readersWorkload(sizes Sizes, socketPair bool) Workload {
	ends := "pipe"
	if socketPair {
		ends = "socket"
	}
	return Workload{
		ID:    "W3/" + ends,
		Title: fmt.Sprintf("one chat, %d tokens unpaced over a %s, readers slow for %v", sizes.SlowTokens, ends, sizes.Stall),
		Goals: readerGoals(),
		Round: func(ctx context.Context, b *Bench) ([]Row, error) { return readersRound(ctx, b, sizes, socketPair) },
	}
}

func readerGoals() (goals []Goal) {
	for _, name := range host.Readers[1:] {
		goals = append(goals,
			Goal{name, "stream_ratio", 1.02, false},
			Goal{name, "rss_less_text_MiB", 64, false},
			Goal{name, "lost_tokens", 0, false},
		)
	}
	return goals
}

func readersRound(ctx context.Context, b *Bench, sizes Sizes, socketPair bool) (rows []Row, err error) {
	var fast *measure.Result
	for _, name := range host.Readers {
		r, err := b.Run(ctx, measure.Load{
			Tokens: sizes.SlowTokens, SocketPair: socketPair, SlowFor: sizes.Stall,
			// a reader that goes away does so after about a quarter of the stream's text
			Reader: host.Model{Reader: name, CloseAfter: sizes.SlowTokens * tokens.PlainWidth / 4},
		})
		if err != nil {
			return nil, fmt.Errorf("reader %s: %w", name, err)
		}
		if name == host.ReaderFast {
			fast = r
		}
		r.Compare(fast)
		rows = append(rows, readerRow(name, r))
	}
	return rows, nil
}

func readerRow(program string, r *measure.Result) Row {
	unread := float64(r.Sent*tokens.PlainWidth) / mebibyte
	row := Row{program, []Metric{
		{"stream_s", r.StreamSeconds},
		{"stream_ratio", r.OfFast},
		{"until_final_s", r.Seconds},
		{"rss_MiB", float64(r.PeakRSS) / mebibyte},
		{"rss_less_text_MiB", float64(r.PeakRSS)/mebibyte - unread},
		{"lines", float64(r.Lines)},
		{"lost_tokens", float64(r.Lost)},
	}}
	if r.Engine != nil {
		row.Metrics = append(row.Metrics,
			Metric{"merged", float64(r.Engine.Merged)},
			Metric{"dropped", float64(r.Engine.Dropped)},
			Metric{"largest_queue_MiB", float64(r.Engine.LargestQueue) / mebibyte},
			Metric{"writes", float64(r.Engine.Writes)},
			Metric{"blocked_s", r.Engine.ReaderStalledS},
		)
	}
	return row
}
