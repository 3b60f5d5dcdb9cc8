package pipeline

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/sinks/stdout"
	"sluice/stages/execute"
)

// batchLease gives streams of b.N tokens in batches.
type batchLease struct {
	scriptedLease
	tokens, batch int
}

func (l batchLease) Stream(*wire.ModelRequest) TokenSource {
	return &batchStream{tokens: l.tokens, batch: l.batch}
}

type batchStream struct {
	scriptedStream
	tokens, batch int
}

func (s *batchStream) Run(ctx context.Context) error {
	batch := &wire.Tokens{}
	for range s.batch {
		batch.Items = append(batch.Items, wire.Token{Kind: wire.TokenContent, Plain: true, Raw: []byte("a word")})
	}
	for sent := 0; sent < s.tokens; sent += s.batch {
		if err := s.next.Push(ctx, batch); err != nil {
			return err
		}
	}
	s.next.Done(nil)
	return nil
}

// BenchmarkStep is a token's way from the source to the output: in batches as a fast server's reads
// bring them (256) or each alone, with the sink's writes measured or not, or for a host that wants
// progress.
func BenchmarkStep(b *testing.B) {
	for _, batch := range []int{1, 256} {
		for _, name := range []string{"plain", "measured", "progress"} {
			b.Run(fmt.Sprintf("batch=%d/%s", batch, name), func(b *testing.B) {
				var onWrite func(took, added time.Duration)
				if name == "measured" {
					onWrite = func(_, _ time.Duration) {}
				}
				sink := stdout.New(io.Discard, stdout.Options{TryWrite: func(p []byte) int { return len(p) }, OnWrite: onWrite})
				p := graph(context.Background(), testkit.NewFeed(), io.Discard, &scriptedModels{}, func(o *Options) { o.Sink = sinkPort{sink} })
				go sink.Run()
				chat := p.Chat("1", execute.Extensions{Progress: name == "progress"})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := chat.Step(context.Background(), batchLease{tokens: 1 << 14, batch: batch}, 0, &wire.ModelRequest{}, func(int64) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<14), "ns/token")
				if err := sink.Close(context.Background(), 0); err != nil {
					b.Error(err)
				}
			})
		}
	}
}
