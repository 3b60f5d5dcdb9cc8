package stdout

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// TestADeferredLineIsEncodedWhenTheWriterTakesIt: once, with the counts of that moment, and without
// the sink's lock.
func TestADeferredLineIsEncodedWhenTheWriterTakesIt(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy})
			encoded := 0
			var told wire.Delivery
			l := s.Lane("1")
			mustPut(t, l, event("1", 0, 10), event("1", 1, 10))
			mustFinish(t, l, wire.Frame{Cost: 50, Deferred: encode(func(dst []byte, d wire.Delivery) []byte {
				encoded++
				told = d
				s.Stats() // would never return under the lock
				l.Delivery()
				return append(dst, `{"R":"1","Kind":"final"}`+"\n"...)
			})})
			mustPut(t, s.Lane("2"), event("2", 0, 10))
			if encoded != 0 {
				t.Error("encoded before the writer took it")
			}
			w.take()
			lines := parse(t, bytes.Join(w.rest(t, s), nil))
			if got := brief(lines); got != "1:event:0 1:event:1 1:final:0 2:event:0" {
				t.Error(got)
			}
			if encoded != 1 || told != (wire.Delivery{Sent: 2}) {
				t.Errorf("encoded %d times, with %+v", encoded, told)
			}
		})
	}
}

func TestAHugeDeferredLine(t *testing.T) {
	for _, announced := range []int{0, 100, 4 << 20} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{})
			body := strings.Repeat("x", 4<<20)
			huge := wire.Frame{Class: wire.Guaranteed, Cost: announced, Deferred: encode(func(dst []byte, _ wire.Delivery) []byte {
				return append(append(append(dst, `{"R":"huge","D":"`...), body...), "\"}\n"...)
			})}
			mustPut(t, s.Replies(), kept("before", 0), huge, kept("after", 0))
			w.take()
			lines := parse(t, bytes.Join(w.rest(t, s), nil))
			if len(lines) != 3 || lines[0].R != "before" || lines[1].D != body || lines[2].R != "after" {
				t.Errorf("cost %d: %d lines", announced, len(lines))
			}
		})
	}
}

// TestADeferredEventIsNeitherMergedNorMergedInto: its bytes do not exist yet.
func TestADeferredEventIsNeitherMergedNorMergedInto(t *testing.T) {
	for _, class := range []wire.Class{wire.Mergeable, wire.LatestWins, wire.BestEffort} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{})
			late := frame(class, "late", "1", 1)
			late.Deferred, late.Cost = encode(func(dst []byte, _ wire.Delivery) []byte { return append(dst, late.Head...) }), 30
			late.Head = append(late.Head, late.Tail...)
			l := s.Lane("1")
			mustPut(t, l, frame(class, "early", "1", 0), late, frame(class, "early", "1", 2))
			w.take()
			if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "1:early:0 1:late:1 1:early:2" {
				t.Errorf("class %d: %s", class, got)
			}
		})
	}
}

// TestADeferredEventMayBeShed: it is then never encoded.
func TestADeferredEventMayBeShed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{PendingBytes: 300})
		late := wire.Frame{Class: wire.BestEffort, Cost: 280, Event: "late", Deferred: encode(func(dst []byte, _ wire.Delivery) []byte {
			t.Error("a dropped event was encoded")
			return dst
		})}
		fat := s.Lane("fat")
		mustPut(t, fat, late)
		mustPut(t, s.Lane("thin"), event("thin", 0, 50))
		w.take()
		if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "thin:event:0" || fat.Delivery().Dropped != 1 {
			t.Errorf("%s, %+v", got, fat.Delivery())
		}
	})
}
