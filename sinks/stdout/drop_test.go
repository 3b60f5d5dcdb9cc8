package stdout

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestDropPolicyIsOneStrictFIFO(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{Policy: Drop})
		a, b := s.Lane("a"), s.Lane("b")
		mustPut(t, a, chunk("a", 0, "x"), chunk("a", 1, "y"))
		mustPut(t, b, latest("b", 0), latest("b", 1))
		mustPut(t, s.Replies(), kept("ping", 0))
		mustPut(t, a, event("a", 2, 10))
		mustFinish(t, b, final("b", 2))
		mustPut(t, s.Replies(), kept("ping", 1))
		mustFinish(t, a, final("a", 3))
		w.take()
		got := brief(parse(t, bytes.Join(w.rest(t, s), nil)))
		want := "a:chunk:0 a:chunk:1 b:latest:0 b:latest:1 ping:kept:0 a:event:2 b:final:2 ping:kept:1 a:final:3"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestDropPolicyDropsTheArrivingEventWhenFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{Policy: Drop, QueueFrames: 3})
		l := s.Lane("1")
		mustPut(t, l, chunk("1", 0, "a"), chunk("1", 1, "b"), kept("1", 2), chunk("1", 3, "c"), kept("1", 4), latest("1", 5))
		mustFinish(t, l, counted("1", 6))
		w.take()
		lines := parse(t, bytes.Join(w.rest(t, s), nil))
		if got := brief(lines); got != "1:chunk:0 1:chunk:1 1:kept:2 1:kept:4 1:final:6" {
			t.Error(got)
		}
		if d := lines[4].Delivery; d != (wire.Delivery{Sent: 4, Dropped: 2}) {
			t.Errorf("the final frame tells %+v", d)
		}
	})
}

func TestDropsAreNumberedInTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s, w := blocked(t, Options{Policy: Drop, QueueFrames: 1, Logger: logger})
		frames := &wire.Frames{Items: []wire.Frame{chunk("a", 0, "x"), chunk("a", 1, "x"), latest("a", 2), event("a", 3, 1)}}
		if err := s.Lane(`"a"`).Push(t.Context(), frames); err != nil {
			t.Fatal(err)
		}
		w.take()
		w.rest(t, s)
		for i, name := range []string{"chunk", "latest", "event"} {
			if want := fmt.Sprintf("msg=STDIO_WRITER_DROP request=\"\\\"a\\\"\" event=%s total=%d\n", name, i+1); !strings.Contains(log.String(), want) {
				t.Errorf("no %q in %q", want, log.String())
			}
		}
	})
}
