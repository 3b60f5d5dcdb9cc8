package stdout

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

func TestTextJoinsTheWaitingLineOfItsRequestAndStep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		a, b := s.Lane("a"), s.Lane("b")
		second := chunk("a", 4, "5")
		second.Key = 2
		mustPut(t, a, chunk("a", 0, "1"), chunk("a", 1, "2"))
		mustPut(t, b, chunk("b", 0, "x"))
		mustPut(t, a, chunk("a", 2, "3"), event("a", 3, 10), second, chunk("a", 5, "6"))
		w.take()
		var got []string
		for _, l := range parse(t, bytes.Join(w.rest(t, s), nil)) {
			got = append(got, l.R+l.D)
		}
		if want := "a123 a a5 a6 bx"; strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
		if d := a.Delivery(); d != (wire.Delivery{Sent: 4, Merged: 2}) {
			t.Errorf("counted %+v", d)
		}
	})
}

func TestAMergedLineHoldsAtMostMergeBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{MergeBytes: 10})
		l := s.Lane("1")
		for n := range 10 {
			mustPut(t, l, chunk("1", n, "abc"))
		}
		mustPut(t, l, chunk("1", 10, "longer than ten bytes"), chunk("1", 11, "z"))
		w.take()
		var got []string
		for _, line := range parse(t, bytes.Join(w.rest(t, s), nil)) {
			got = append(got, line.D)
		}
		want := "abcabcabc abcabcabc abcabcabc abc longer than ten bytes z"
		if strings.Join(got, " ") != want {
			t.Errorf("got %q", got)
		}
	})
}

func TestOnlyTheLatestIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		mustPut(t, l, latest("1", 0), latest("1", 1), latest("1", 2), event("1", 3, 10), latest("1", 4), latest("1", 5))
		mustFinish(t, l, counted("1", 6))
		w.take()
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		if got := brief(lines); got != "1:latest:2 1:event:3 1:latest:5 1:final:6" {
			t.Error(got)
		}
		if d := lines[3].Delivery; d != (wire.Delivery{Sent: 3, Merged: 3}) {
			t.Errorf("the final frame tells %+v", d)
		}
	})
}

// TestALargerLatestKeepsTheBound: a replacement that would exceed the bound is an arriving event
// like any other.
func TestALargerLatestKeepsTheBound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{PendingBytes: 500})
		l := s.Lane("1")
		mustPut(t, l, latest("1", 0), padded(wire.LatestWins, "latest", "1", 1, 600))
		if q := s.Stats(); q.Queue.Bytes > 500+100 || q.Dropped != 1 {
			t.Errorf("waiting %+v, dropped %d", q.Queue, q.Dropped)
		}
		w.take()
		if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "1:latest:0" {
			t.Error(got)
		}
	})
}

// TestSheddingTakesTheNewestOfTheFattest also shows the seal: text after a gap starts a line, and
// the final frame reports the drop.
func TestSheddingTakesTheNewestOfTheFattest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s, w := blocked(t, Options{PendingBytes: 1000, Logger: logger})
		fat, thin := s.Lane("fat"), s.Lane("thin")
		mustPut(t, fat, event("fat", 0, 300), chunk("fat", 1, "one"), event("fat", 2, 300), chunk("fat", 3, strings.Repeat("y", 100)))
		mustPut(t, fat, kept("fat", 4))
		mustPut(t, thin, event("thin", 0, 300))
		mustPut(t, fat, chunk("fat", 5, "two"))
		mustFinish(t, fat, counted("fat", 6))
		w.take()
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		want := "fat:event:0 fat:chunk:1 fat:event:2 fat:kept:4 fat:chunk:5 fat:final:6 thin:event:0"
		if got := brief(lines); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if d := lines[5].Delivery; d != (wire.Delivery{Sent: 5, Dropped: 1}) {
			t.Errorf("the final frame tells %+v", d)
		}
		if !strings.Contains(log.String(), "msg=STDIO_WRITER_DROP request=fat event=chunk total=1\n") {
			t.Errorf("log %q", log.String())
		}
	})
}

func TestTextAfterAGapStartsALine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{PendingBytes: 200})
		l := s.Lane("1")
		mustPut(t, l, chunk("1", 0, "a"), chunk("1", 1, strings.Repeat("b", 300)), chunk("1", 2, "c"), chunk("1", 3, "d"))
		w.take()
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		if len(lines) != 2 || lines[0].D != "a" || lines[1].D != "cd" {
			t.Errorf("got %+v", lines)
		}
	})
}

// TestARequestThatLostEverythingQueuesAnew: it goes behind those that had something waiting.
func TestARequestThatLostEverythingQueuesAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{PendingBytes: 500})
		fat, thin := s.Lane("fat"), s.Lane("thin")
		mustPut(t, fat, event("fat", 0, 400))
		mustPut(t, thin, event("thin", 0, 200))
		mustPut(t, fat, event("fat", 1, 200))
		w.take()
		if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "thin:event:0 fat:event:1" {
			t.Error(got)
		}
	})
}

// TestInFlightCountsAsPending: what the writer has taken still counts until it is written.
func TestInFlightCountsAsPending(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			w := make(writes)
			s := New(w, Options{Policy: policy, PendingBytes: 1000})
			go s.Run()
			l := s.Lane("1")
			mustPut(t, l, event("1", 0, 600))
			synctest.Wait() // in flight now
			mustPut(t, l, event("1", 1, 600))
			if got := l.Delivery(); got.Dropped != 1 {
				t.Errorf("policy %d: %+v", policy, got)
			}
			w.take()
			mustPut(t, l, event("1", 2, 600))
			if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "1:event:2" {
				t.Errorf("policy %d: %s", policy, got)
			}
		})
	}
}

// TestSharedMemoryIsNotCountedTwice: an event that repeats the whole answer costs no text.
func TestSharedMemoryIsNotCountedTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{PendingBytes: 1000})
		l := s.Lane("1")
		mustPut(t, l, event("1", 0, 700))
		repeats := counted("1", 1)
		repeats.Class, repeats.Cost, repeats.Shared = wire.BestEffort, 900, 800
		mustPut(t, l, repeats)
		if q := s.Stats().Queue; q.Bytes > 1000 {
			t.Errorf("%+v", q)
		}
		mustFinish(t, l, counted("1", 2))
		got := parse(t, bytes.Join(append([][]byte{w.take()}, w.rest(t, s)...), nil))
		if len(got) != 4 || got[3].Dropped != 0 || got[3].Sent != 2 {
			t.Errorf("%+v", got)
		}
	})
}
