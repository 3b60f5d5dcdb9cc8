package pipeline

import (
	"context"
	"io"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/sinks/stdout"
	"sluice/stages/execute"
)

// steadyLease gives streams of so many tokens, each a batch of its own.
type steadyLease struct {
	scriptedLease
	tokens int
}

func (l steadyLease) Stream(*wire.ModelRequest) TokenSource { return &steadyStream{tokens: l.tokens} }

type steadyStream struct {
	scriptedStream
	tokens int
}

func (s *steadyStream) Run(ctx context.Context) error {
	batch := &wire.Tokens{Items: []wire.Token{{Kind: wire.TokenContent, Plain: true, Raw: []byte("a word")}}}
	for range s.tokens {
		if err := s.next.Push(ctx, batch); err != nil {
			return err
		}
	}
	s.next.Done(nil)
	return nil
}

// TestTokensOfASlowStreamCostNoAllocation: from the source to the output, with every token an element
// of its own, nothing but the growing response costs one.
func TestTokensOfASlowStreamCostNoAllocation(t *testing.T) {
	sink := stdout.New(io.Discard, stdout.Options{TryWrite: func(p []byte) int { return len(p) }})
	p := graph(context.Background(), testkit.NewFeed(), io.Discard, &scriptedModels{}, func(o *Options) { o.Sink = sinkPort{sink} })
	go sink.Run()
	cost := func(extensions execute.Extensions, tokens int) float64 {
		return testing.AllocsPerRun(3, func() {
			chat := p.Chat("1", extensions)
			outcome, err := chat.Step(context.Background(), steadyLease{tokens: tokens}, 0, &wire.ModelRequest{}, func(int64) {})
			if err != nil || len(outcome.Response) != tokens*len("a word") {
				t.Errorf("a response of %d bytes, %v", len(outcome.Response), err)
			}
		})
	}
	for _, extensions := range []execute.Extensions{{Offsets: true}, {Progress: true}} {
		if few, many := cost(extensions, 1000), cost(extensions, 100_000); many > few+50 {
			t.Errorf("%+v: 1,000 tokens cost %v allocations, 100,000 cost %v", extensions, few, many)
		}
	}
	if err := sink.Close(context.Background(), 0); err != nil {
		t.Error(err)
	}
}
