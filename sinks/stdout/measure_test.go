package stdout

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// heard gathers what the hooks are told.
type heard struct {
	took, added []time.Duration
	stalls      []wire.Stall
}

func (h *heard) options() Options {
	return Options{
		StallThreshold: time.Second,
		OnWrite: func(took, added time.Duration) {
			h.took, h.added = append(h.took, took), append(h.added, added)
		},
		OnStall: func(s wire.Stall) { h.stalls = append(h.stalls, s) },
	}
}

// push hands over one frame that arrived at a time.
func push(t *testing.T, l *Lane, f wire.Frame, arrived time.Time) {
	t.Helper()
	if err := l.Push(context.Background(), &wire.Frames{Items: []wire.Frame{f}, Arrived: arrived}); err != nil {
		t.Error(err)
	}
}

// TestStallIsToldOnce: after the write, with its request and what waits behind it.
func TestStallIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var h heard
		s, w := blocked(t, h.options())
		time.Sleep(time.Second - 1)
		w.take() // in time, and of a reply
		a := s.Lane(`"a"`)
		push(t, a, event("a", 0, 100), time.Time{})
		synctest.Wait()
		push(t, a, event("a", 1, 200), time.Time{})
		time.Sleep(time.Second)
		if got := s.Stats().Stalls; len(h.stalls) != 0 || got != (wire.StallStats{Count: 1, Time: time.Second}) {
			t.Errorf("under way: told %+v, counted %+v", h.stalls, got)
		}
		time.Sleep(time.Second)
		w.take()
		want := wire.Stall{Cause: wire.CauseReader, Took: 2 * time.Second, Ended: time.Now(), Request: `"a"`, Frames: 2, Bytes: 300}
		if !slices.Equal(h.stalls, []wire.Stall{want}) {
			t.Errorf("got %+v; want %+v", h.stalls, want)
		}
		w.rest(t, s)
		if got := s.Stats().Stalls; len(h.stalls) != 1 || got != (wire.StallStats{Count: 1, Time: 2 * time.Second}) {
			t.Errorf("in the end: told %d, counted %+v", len(h.stalls), got)
		}
	})
}

// TestStallThatEndsWithTheReader counts too.
func TestStallThatEndsWithTheReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var h heard
		r, w := io.Pipe()
		s := New(w, h.options())
		go s.Run()
		mustPut(t, s.Replies(), kept("first", 0))
		time.Sleep(3 * time.Second)
		r.CloseWithError(errors.New("gone"))
		synctest.Wait()
		if got := s.Stats().Stalls; len(h.stalls) != 1 || h.stalls[0].Request != "" || got != (wire.StallStats{Count: 1, Time: 3 * time.Second}) {
			t.Errorf("told %+v, counted %+v", h.stalls, got)
		}
		w2 := make(writes)
		s.out = w2
		if all := w2.rest(t, s); len(all) != 0 {
			t.Errorf("wrote %q", all)
		}
	})
}

// TestAddedLatency is the time from an arrival to the end of the write that carried it, one at a time.
func TestAddedLatency(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var h heard
		s, w := blocked(t, h.options())
		a, b := s.Lane("a"), s.Lane("b")
		push(t, a, chunk("a", 0, "x"), time.Now().Add(-time.Second)) // followed
		push(t, a, chunk("a", 1, "y"), time.Now())                   // merged into it
		push(t, b, chunk("b", 0, "z"), time.Now())
		time.Sleep(2 * time.Second)
		w.take()
		time.Sleep(3 * time.Second)
		w.take()
		push(t, b, chunk("b", 1, "z"), time.Now())
		synctest.Wait()
		time.Sleep(4 * time.Second)
		w.take()
		mustPut(t, b, chunk("b", 2, "z")) // nobody said when it arrived
		synctest.Wait()
		w.rest(t, s)
		const sec = time.Second
		if want := []time.Duration{0, 6 * sec, 4 * sec, 0}; !slices.Equal(h.added, want) {
			t.Errorf("added %v; want %v", h.added, want)
		}
		if want := []time.Duration{2 * sec, 3 * sec, 4 * sec, 0}; !slices.Equal(h.took, want) {
			t.Errorf("took %v; want %v", h.took, want)
		}
	})
}

// TestDroppedBatchIsNotFollowed: another one is, so that the measuring goes on.
func TestDroppedBatchIsNotFollowed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var h heard
		options := h.options()
		options.PendingBytes = 1000
		s, w := blocked(t, options)
		a, b := s.Lane("a"), s.Lane("b")
		push(t, a, event("a", 0, 900), time.Now().Add(-time.Hour))
		push(t, b, event("b", 0, 200), time.Now().Add(-time.Second)) // takes the place of the one that is followed
		push(t, a, event("a", 1, 900), time.Now())                   // finds none
		push(t, b, event("b", 1, 200), time.Now())
		if s.Stats().Dropped != 2 {
			t.Fatalf("%d were dropped", s.Stats().Dropped)
		}
		w.take()
		w.rest(t, s)
		if want := []time.Duration{0, time.Second}; !slices.Equal(h.added, want) {
			t.Errorf("added %v; want %v", h.added, want)
		}
		if !s.followed.IsZero() {
			t.Error("something is followed that will never be written")
		}
	})
}

// TestMeasuringAllocatesNothing, also where a producer writes itself.
func TestMeasuringAllocatesNothing(t *testing.T) {
	writes := 0
	s := New(io.Discard, Options{TryWrite: func(p []byte) int { return len(p) }, OnWrite: func(_, _ time.Duration) { writes++ }})
	s.idle = true // as Run leaves it
	l := s.Lane("a")
	frames := &wire.Frames{Items: []wire.Frame{chunk("a", 0, "x")}, Arrived: time.Now()}
	n := testing.AllocsPerRun(100, func() {
		if err := l.Push(context.Background(), frames); err != nil {
			t.Error(err)
		}
	})
	if n != 0 || writes != 101 {
		t.Errorf("%v allocations, %d writes", n, writes)
	}
}
