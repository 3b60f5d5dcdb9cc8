package stdout

import (
	"bytes"
	"testing"

	"sluice/internal/wire"
)

// TestAGuaranteedEventKeepsItsPlace: one that a person must answer waits behind the text before it,
// nothing of its request overtakes it, and it is counted like any other event.
func TestAGuaranteedEventKeepsItsPlace(t *testing.T) {
	for policy, want := range map[Policy]string{
		Coalesce: "ping:kept:0 a:chunk:0 a:kept:2 a:chunk:3 a:final:5",
		Drop:     "a:chunk:0 a:chunk:1 a:kept:2 a:chunk:3 a:chunk:4 ping:kept:0 a:final:5",
	} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			a := s.Lane("a")
			mustPut(t, a, chunk("a", 0, "x"), chunk("a", 1, "y"), kept("a", 2), chunk("a", 3, "z"), chunk("a", 4, "!"))
			mustPut(t, s.Replies(), kept("ping", 0))
			mustFinish(t, a, counted("a", 5))
			w.take()
			lines := parse(t, bytes.Join(w.rest(t, s), nil))
			if got := brief(lines); got != want {
				t.Errorf("policy %d: got %s, want %s", policy, got, want)
			}
			d := lines[len(lines)-1].Delivery
			if events := int64(len(lines) - 2); d != (wire.Delivery{Sent: events, Merged: 5 - events}) {
				t.Errorf("policy %d: %d event lines came, the final frame tells %+v", policy, events, d)
			}
		})
	}
}

// TestAReplyAmongEvents keeps its place too, but is no event.
func TestAReplyAmongEvents(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			a := s.Lane("a")
			reply := kept("a", 0)
			reply.Event = ""
			mustPut(t, a, reply, chunk("a", 1, "x"))
			mustFinish(t, a, counted("a", 2))
			w.take()
			lines := parse(t, bytes.Join(w.rest(t, s), nil))
			if got := brief(lines); got != "a:kept:0 a:chunk:1 a:final:2" {
				t.Errorf("policy %d: got %s", policy, got)
			}
			if d := lines[len(lines)-1].Delivery; d != (wire.Delivery{Sent: 1}) {
				t.Errorf("policy %d: the final frame tells %+v", policy, d)
			}
		})
	}
}

// TestAGuaranteedEventAloneHoldsTheFinalFrameBack, which would else overtake as a reply does.
func TestAGuaranteedEventAloneHoldsTheFinalFrameBack(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy, PendingBytes: 1, QueueFrames: 1})
			a := s.Lane("a")
			mustPut(t, a, kept("a", 0))
			mustFinish(t, a, final("a", 1))
			w.take()
			if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "a:kept:0 a:final:1" {
				t.Errorf("policy %d: %s", policy, got)
			}
			if d := a.Delivery(); d != (wire.Delivery{Sent: 1}) {
				t.Errorf("policy %d: the final frame counts: %+v", policy, d)
			}
		})
	}
}

// TestOnlyTheLatestWaits: a newer frame takes the place of a waiting one of its key, which counts as
// merged; not across another event, nor once the writer has it.
func TestOnlyTheLatestWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		a, b := s.Lane("a"), s.Lane("b")
		other := latest("a", 3)
		other.Key = 2
		mustPut(t, a, latest("a", 0), latest("a", 1), latest("a", 2), other, event("a", 4, 10), latest("a", 5))
		mustPut(t, b, latest("b", 0)) // another request's
		mustPut(t, a, latest("a", 6))
		if q := s.Stats().Queue; q.Frames != 6 {
			t.Errorf("%d frames wait", q.Frames)
		}
		w.take()
		mustPut(t, a, latest("a", 7))
		mustFinish(t, a, counted("a", 8))
		mustFinish(t, b, counted("b", 1))
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		want := "a:latest:2 a:latest:3 a:event:4 a:latest:6 b:latest:0 b:final:1 a:latest:7 a:final:8"
		if got := brief(lines); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if d := lines[len(lines)-1].Delivery; d != (wire.Delivery{Sent: 5, Merged: 3}) {
			t.Errorf("8 events were pushed, the final frame tells %+v", d)
		}
	})
}

// TestTheLatestAtTheBound: what doesn't fit is dropped like any other event, and what does still takes
// the place of the older one, which would else be the latest for good.
func TestTheLatestAtTheBound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		small, large := latest("a", 0), padded(wire.LatestWins, "latest", "a", 1, 500)
		s, w := blocked(t, Options{PendingBytes: int64(cost(&small))})
		a := s.Lane("a")
		mustPut(t, a, small, large, latest("a", 2))
		mustFinish(t, a, counted("a", 3))
		w.take()
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		if got := brief(lines); got != "a:latest:2 a:final:3" {
			t.Error(got)
		}
		if d := lines[len(lines)-1].Delivery; d != (wire.Delivery{Sent: 1, Merged: 1, Dropped: 1}) {
			t.Errorf("3 events were pushed, the final frame tells %+v", d)
		}
	})
}
