package workload

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/host"
	"sluice/internal/bench/tokens"
)

// readers is W3: a reader of each model while the stream arrives; the stream must not notice.
func readers(sizes Sizes, socketPair bool) Workload {
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
	var fast *run
	for _, name := range host.Readers {
		r, err := b.runEngine(ctx, demand{
			tokens: sizes.SlowTokens, socketPair: socketPair, slowFor: sizes.Stall,
			// a reader that goes away does so after about a quarter of the stream's text
			reader: host.Model{Reader: name, Stall: sizes.Stall, CloseAfter: sizes.SlowTokens * tokens.PlainWidth / 4},
		})
		if err != nil {
			return nil, fmt.Errorf("reader %s: %w", name, err)
		}
		if name == host.ReaderFast {
			fast = r
		}
		rows = append(rows, readerRow(name, r, fast))
	}
	return rows, nil
}

func readerRow(program string, r, fast *run) Row {
	events := gjson.Get(r.report.Final, "result.events")
	unread := float64(r.report.Tokens*tokens.PlainWidth) / mebibyte
	return Row{program, []Metric{
		{"stream_s", r.streamSeconds()},
		{"stream_ratio", r.streamSeconds() / fast.streamSeconds()},
		{"until_final_s", r.elapsed.Seconds()},
		{"rss_MiB", float64(r.peakRSS) / mebibyte},
		{"rss_less_text_MiB", float64(r.peakRSS)/mebibyte - unread},
		{"lines", float64(r.report.Lines)},
		{"merged", events.Get("merged").Float()},
		{"dropped", events.Get("dropped").Float()},
		{"lost_tokens", float64(r.report.Lost)},
	}}
}
