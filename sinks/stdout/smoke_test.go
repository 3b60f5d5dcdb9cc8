package stdout

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"sluice/internal/wire"
)

func chunk(i int) wire.Frame {
	return wire.Frame{Class: wire.Mergeable, Key: 1, Head: []byte(`{"d":"`), Text: fmt.Appendf(nil, "w%d ", i), Tail: []byte("\"}\n"), Event: "llm_chunk"}
}

func TestSmoke(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, Options{})
	l := s.Lane(`"c"`)
	for i := range 5 {
		l.Push(t.Context(), &wire.Frames{Items: []wire.Frame{chunk(i), chunk(i * 10)}})
	}
	l.Finish(wire.Frame{Head: []byte("final\n")})
	s.Replies().Put(wire.Frame{Class: wire.Guaranteed, Head: []byte("pong\n")})
	go s.Run()
	if err := s.Close(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String(), s.Stats())
}

func BenchmarkOneProducer(b *testing.B) {
	s := New(discard{}, Options{})
	go s.Run()
	l := s.Lane(`"c"`)
	var f wire.Frames
	for i := range 64 {
		f.Items = append(f.Items, chunk(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Push(b.Context(), &f)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/event")
	s.Close(context.Background(), 0)
}

func BenchmarkOneProducerDropPolicy(b *testing.B) {
	s := New(discard{}, Options{Policy: Drop, QueueFrames: 1 << 30, PendingBytes: 1 << 40})
	go s.Run()
	l := s.Lane(`"c"`)
	var f wire.Frames
	for i := range 64 {
		f.Items = append(f.Items, chunk(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Push(b.Context(), &f)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/event")
	s.Close(context.Background(), 0)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
