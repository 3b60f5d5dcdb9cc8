package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func BenchmarkTurn(b *testing.B) {
	s := open(b, newStore(b, Options{Dir: b.TempDir()}), "u", "s")
	defer s.Close()
	text := strings.Repeat("word ", 200)
	for b.Loop() {
		say(b, s, "a question", text)
	}
}

// BenchmarkChat has a lease of its own for each turn, and reads what was said before.
func BenchmarkChat(b *testing.B) {
	store := newStore(b, Options{Dir: b.TempDir()})
	text := strings.Repeat("word ", 200)
	n := 0
	for b.Loop() {
		s := open(b, store, "u", fmt.Sprint("s", n/10))
		n++
		if _, err := s.History(context.Background(), 0, 1<<20, 1<<10); err != nil {
			b.Fatal(err)
		}
		say(b, s, "a question", text)
		s.Close()
	}
}

func BenchmarkChats64(b *testing.B) {
	store := newStore(b, Options{Dir: b.TempDir()})
	text := strings.Repeat("word ", 200)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		name := randomName()
		for pb.Next() {
			s := open(b, store, "u", name)
			say(b, s, "a question", text)
			s.Close()
		}
	})
}

func BenchmarkLargeResult(b *testing.B) {
	ctx := context.Background()
	s := open(b, newStore(b, Options{Dir: b.TempDir()}), "u", "s")
	defer s.Close()
	turn := newTurn("large")
	must(b, s.Begin(ctx, turn))
	text := strings.Repeat("0123456789abcdef", 10<<20/16)
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		must(b, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Number: n, Calls: make([]wire.TurnCall, 1)}))
		must(b, s.EndCall(ctx, turn.ID, n, 0, &wire.ToolResult{Status: wire.ToolOK, Text: text}))
		n++
	}
}
