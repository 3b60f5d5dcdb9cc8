package pipeline

import (
	"context"
	"testing"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

// discard is the last stage of a benchmark.
type discard struct{ *sink }

func (discard) Push(context.Context, any) error { return nil }

// BenchmarkStages is what one element costs on its way through four stages that do nothing: fused,
// and over channels as foreign operators do it.
func BenchmarkStages(b *testing.B) {
	same := func(e *wire.Events) *wire.Events { return e }
	ours := func() streams.Flow { return NewFlow(&Counter{}, same, nil) }
	theirs := func() streams.Flow { return flow.NewMap(same, 1) }
	for name, stage := range map[string]func() streams.Flow{"fused": ours, "channels": theirs} {
		b.Run(name, func(b *testing.B) {
			first, last := NewFlow(&Counter{}, same, nil), NewFlow(&Counter{}, same, nil)
			to := discard{newSink()}
			first.Via(stage()).Via(stage()).Via(stage()).Via(stage()).Via(last)
			last.To(to)
			batch := &wire.Events{Items: make([]wire.Event, 1)}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				_ = first.Push(context.Background(), batch)
			}
			first.Done(nil)
			to.AwaitCompletion()
		})
	}
}

// BenchmarkRequest is what a ping costs from its line to its reply, the sink left out.
func BenchmarkRequest(b *testing.B) {
	p := NDJSON(0, false)
	lines := &wire.Lines{Items: []wire.Line{{Bytes: []byte(`{"id":"ping-1","method":"ping","params":{}}`)}}}
	var reply []byte
	b.ReportAllocs()
	for range b.N {
		requests := p.Route(p.Validate(p.Parse(lines)))
		reply = p.Reply(reply[:0], requests.Items[0].ID, &wire.Pong{}, wire.Delivery{})
	}
}
