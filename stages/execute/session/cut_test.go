package session

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// withResult stores a turn whose one call has that result.
func withResult(t testing.TB, s *Session, text string) {
	t.Helper()
	ctx := context.Background()
	turn := newTurn("read it")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Calls: make([]wire.TurnCall, 1)}))
	must(t, s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: text}))
	must(t, s.End(ctx, turn.ID, wire.TurnDone, "read"))
}

func TestResultsAreCut(t *testing.T) {
	ctx := context.Background()
	s := open(t, newStore(t, Options{Dir: t.TempDir()}), "u", "s")
	defer s.Close()
	withResult(t, s, "äöü")
	for _, c := range []struct {
		most  int
		text  string
		bytes int
	}{{0, "äöü", 0}, {6, "äöü", 0}, {5, "äö", 6}, {4, "äö", 6}, {1, "", 6}} {
		turn, err := s.Last(ctx, c.most)
		must(t, err)
		turns, err := s.History(ctx, 0, 1000, c.most)
		must(t, err)
		for _, got := range []*wire.ToolResult{turn.Steps[0].Calls[0].Result, turns[0].Steps[0].Calls[0].Result} {
			if got.Text != c.text || got.Bytes != c.bytes {
				t.Errorf("cut at %d: %q of %d bytes", c.most, got.Text, got.Bytes)
			}
		}
	}
	whole, _, err := s.store.Turns(ctx, "u", "s")
	if must(t, err); whole[0].Steps[0].Calls[0].Result.Text != "äöü" {
		t.Errorf("whole: %+v", whole)
	}
}

// What was cut off isn't kept in memory with what is left.
func TestCutResultsHoldLittleMemory(t *testing.T) {
	const turns, size = 8, 4 << 20
	s := open(t, newStore(t, Options{Dir: t.TempDir()}), "u", "s")
	defer s.Close()
	text := strings.Repeat("0123456789abcdef", size/16)
	for range turns {
		withResult(t, s, text)
	}
	before := live()
	list, err := s.History(context.Background(), 0, 1<<20, 1<<10)
	must(t, err)
	if grown := live() - before; len(list) != turns || grown > size {
		t.Errorf("%d turns hold %d bytes", len(list), grown)
	}
	runtime.KeepAlive(list)
}

// live is how much memory is in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
