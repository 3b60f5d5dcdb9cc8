package pipeline

import (
	"context"
	"fmt"
	"io"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/sinks/stdout"
	"sluice/stages/execute"
)

// steadyRun is a gateway's run of so many batches of text, each with an event among it when mixed.
type steadyRun struct {
	scriptedRun
	batches, tokens int
	mixed           bool
}

func (r *steadyRun) Run(ctx context.Context) error {
	batch := &wire.Tokens{}
	for i := range r.tokens {
		token := wire.Token{Kind: wire.TokenContent, Plain: true, Raw: []byte("a word")}
		if r.mixed && i == r.tokens/2 {
			token = wire.Token{Kind: wire.TokenFrame, Raw: []byte(`{"kind":"end"}`)}
		}
		batch.Items = append(batch.Items, token)
	}
	for range r.batches {
		if err := r.next.Push(ctx, batch); err != nil {
			return err
		}
	}
	r.next.Done(nil)
	return nil
}

// relaying returns a chat of JSON-RPC whose lines nobody reads, and what ends its sink.
func relaying(t testing.TB) (chat execute.Chat, end func()) {
	sink := stdout.New(io.Discard, stdout.Options{TryWrite: func(p []byte) int { return len(p) }})
	p := graph(context.Background(), testkit.NewFeed(), io.Discard, &scriptedModels{}, func(o *Options) {
		rpc(o)
		o.Sink = sinkPort{sink}
	})
	go sink.Run()
	return p.Chat(`"s1"`, execute.Extensions{}), func() {
		if err := sink.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	}
}

// TestARelayedStreamCostsNothingThatGrows: neither allocations nor memory for the text.
func TestARelayedStreamCostsNothingThatGrows(t *testing.T) {
	chat, end := relaying(t)
	defer end()
	cost := func(batches int) float64 {
		return testing.AllocsPerRun(3, func() {
			outcome, err := chat.Relay(context.Background(), &steadyRun{batches: batches, tokens: 2, mixed: true}, func(int64) {})
			if err != nil || len(outcome.Response) > 100 {
				t.Errorf("a response of %d bytes, %v", len(outcome.Response), err)
			}
		})
	}
	if few, many := cost(1000), cost(50_000); many > few+50 {
		t.Errorf("1,000 batches cost %v allocations, 50,000 cost %v", few, many)
	}
}

// BenchmarkRelay is a gateway's token's way to the output, as BenchmarkStep is a model's.
func BenchmarkRelay(b *testing.B) {
	for _, tokens := range []int{1, 256} {
		b.Run(fmt.Sprintf("batch=%d", tokens), func(b *testing.B) {
			chat, end := relaying(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := chat.Relay(context.Background(), &steadyRun{batches: 1 << 14 / tokens, tokens: tokens}, func(int64) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<14), "ns/token")
			end()
		})
	}
}
