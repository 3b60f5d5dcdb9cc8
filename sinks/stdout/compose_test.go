package stdout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

func TestALoneFrameLeavesAtOnce(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			w := make(writes)
			s := New(w, Options{Policy: policy})
			go s.Run()
			l := s.Lane("1")
			for n := range 3 {
				mustPut(t, l, chunk("1", n, "a"))
				synctest.Wait()
				if got := brief(parse(t, w.take())); got != fmt.Sprintf("1:chunk:%d", n) {
					t.Errorf("policy %d, write %d: %s", policy, n, got)
				}
			}
			w.rest(t, s)
		})
	}
}

func TestWhatGathersDuringAWriteLeavesAsOne(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			for i := range 5 {
				id := fmt.Sprint(i)
				l := s.Lane(wire.ID(id))
				mustPut(t, l, event(id, 0, 100), chunk(id, 1, "a"))
				mustFinish(t, l, final(id, 2))
			}
			w.take()
			all := w.rest(t, s)
			if len(all) != 1 || len(parse(t, all[0])) != 15 {
				t.Errorf("policy %d: 15 lines left in %d writes", policy, len(all))
			}
			if got := s.Stats().Written; got.Batches != 2 || got.Frames != 16 {
				t.Errorf("policy %d: counted %+v", policy, got)
			}
		})
	}
}

func TestPiecesAreCutAtLineEnds(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			l, replies := s.Lane("1"), s.Replies()
			for n := range 300 {
				mustPut(t, l, event("1", n, 1000+7*n))
				mustPut(t, replies, padded(wire.Guaranteed, "kept", "r", n, 500+3*n))
			}
			w.take()
			all := w.rest(t, s)
			lines := 0
			for i, p := range all {
				if len(p) > pieceBytes {
					t.Errorf("policy %d: write %d has %d bytes", policy, i, len(p))
				}
				if i < len(all)-1 && len(p) < pieceBytes-turnBytes {
					t.Errorf("policy %d: write %d has only %d bytes while more waited", policy, i, len(p))
				}
				lines += len(parse(t, p))
			}
			if lines != 600 {
				t.Errorf("policy %d: %d lines", policy, lines)
			}
		})
	}
}

func TestALongLineIsWrittenWhole(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			l := s.Lane("1")
			mustPut(t, l, event("1", 0, 100), event("1", 1, 300<<10), event("1", 2, 100))
			w.take()
			all := w.rest(t, s)
			if len(all) != 3 || len(all[1]) != 300<<10 {
				t.Fatalf("policy %d: %d writes", policy, len(all))
			}
			if got := brief(parse(t, bytes.Join(all, nil))); got != "1:event:0 1:event:1 1:event:2" {
				t.Errorf("policy %d: %s", policy, got)
			}
		})
	}
}

func TestRepliesOvertakeEventsOfOthersOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		chat, quick := s.Lane("chat"), s.Lane("quick")
		mustPut(t, chat, event("chat", 0, 100), kept("chat", 1), event("chat", 2, 100))
		mustFinish(t, chat, final("chat", 3))
		mustFinish(t, quick, final("quick", 0))
		mustPut(t, s.Replies(), kept("ping", 0))
		w.take()
		got := brief(parse(t, bytes.Join(w.rest(t, s), nil)))
		if got != "quick:final:0 ping:kept:0 chat:event:0 chat:kept:1 chat:event:2 chat:final:3" {
			t.Error(got)
		}
	})
}

// TestAQuietStreamIsNotStarved: a quiet stream's line leaves with the next pieces, whatever a chatty
// one holds, with lines short, merged or longer than a piece.
func TestAQuietStreamIsNotStarved(t *testing.T) {
	for _, size := range []int{100, 40 << 10, 100 << 10} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{})
			chatty, quiet := s.Lane("chatty"), s.Lane("quiet")
			for n := range 1 << 20 / size {
				mustPut(t, chatty, event("chatty", n, size))
			}
			w.take() // the writer now holds a piece of the chatty stream
			mustPut(t, quiet, event("quiet", 0, 100))
			w.take()
			next := append(w.take(), w.take()...)
			if !strings.Contains(string(next), "quiet") {
				t.Errorf("lines of %d bytes: the quiet stream still waits after two pieces", size)
			}
			w.rest(t, s)
		})
	}
}

// TestWhoCaughtUpOwesNothing: a long line is paid for only while others wait beside it.
func TestWhoCaughtUpOwesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		a, b := s.Lane("a"), s.Lane("b")
		mustPut(t, a, event("a", 0, pieceBytes))
		w.take() // the long line is in flight
		mustPut(t, a, event("a", 1, 100))
		for n := range 20 {
			mustPut(t, b, event("b", n, turnBytes))
		}
		w.take()
		if got := brief(parse(t, w.take())); !strings.HasPrefix(got, "a:event:1 b:event:0 ") {
			t.Error(got)
		}
		w.rest(t, s)
	})
}

func TestStreamsGetEqualShares(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		const streams = 100
		for i := range streams {
			id := fmt.Sprint(i)
			l := s.Lane(wire.ID(id))
			for n := range 450 {
				mustPut(t, l, event(id, n, 50+20*(i%10)))
			}
		}
		got := map[string]int{}
		for range 25 {
			for raw := range bytes.Lines(w.take()) {
				got[strings.Split(string(raw), `"`)[3]] += len(raw)
			}
		}
		least, most := 1<<30, 0
		for i := range streams {
			least, most = min(least, got[fmt.Sprint(i)]), max(most, got[fmt.Sprint(i)])
		}
		if most-least > turnBytes+250 || least == 0 {
			t.Errorf("after 25 pieces one stream had %d bytes, another %d", least, most)
		}
		w.rest(t, s)
	})
}

// TestRepliesAndEventsShare: neither a flood of replies starves the events nor the other way round,
// however long the events' lines are.
func TestRepliesAndEventsShare(t *testing.T) {
	for _, size := range []int{100, 33 << 10, 80 << 10} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{})
			l, replies := s.Lane("chat"), s.Replies()
			for n := range 1 << 20 / size {
				mustPut(t, l, event("chat", n, size))
			}
			for n := range 12_000 {
				mustPut(t, replies, padded(wire.Guaranteed, "kept", "ping", n, 100))
			}
			w.take()
			for i := range 6 {
				pair := string(w.take()) + string(w.take())
				if !strings.Contains(pair, "chat") || !strings.Contains(pair, "ping") {
					t.Fatalf("lines of %d bytes: pieces %d and %d carry one kind only", size, 2*i, 2*i+1)
				}
			}
			w.rest(t, s)
		})
	}
}

// TestEventsHaveHalfOfAPiece: replies that would leave room for a line or two do not take it all.
func TestEventsHaveHalfOfAPiece(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l, replies := s.Lane("chat"), s.Replies()
		for n := range 2000 {
			mustPut(t, l, event("chat", n, 100))
		}
		for n := range 100 {
			mustPut(t, replies, padded(wire.Guaranteed, "kept", "ping", n, pieceBytes/8-50))
		}
		w.take()
		for i := range 5 {
			piece := w.take()
			if events := 100 * bytes.Count(piece, []byte("chat")); events < pieceBytes/2-turnBytes {
				t.Errorf("piece %d carries %d bytes of events", i, events)
			}
		}
		w.rest(t, s)
	})
}
