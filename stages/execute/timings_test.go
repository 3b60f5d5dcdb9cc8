package execute

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// TestTimingsOfCancelledChats: a wait that ends without what it was for is no time of ours.
func TestTimingsOfCancelledChats(t *testing.T) {
	const s = time.Second
	cases := []struct {
		name  string
		agent string
		ahead bool // another chat runs
		after time.Duration
		want  wire.Timings
	}{
		{"waiting for its turn", "slow", true, 30 * s, wire.Timings{Queue: 30 * s}},
		{"starting", "slow", false, 30 * s, wire.Timings{Load: 30 * s}},
		{"loading", "slow", false, 90 * s, wire.Timings{Load: 90 * s}},
		{"for a slot", "slow", false, 150 * s, wire.Timings{Load: 120 * s, Queue: 30 * s}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
				if c.ahead {
					w.chat("1h", "ahead")
				}
				w.chatWith("a", &wire.ChatParams{Agent: c.agent})
				w.after(c.after)
				w.cancelling("a")
				synctest.Wait()
				done := w.out.done("a")
				w.after(5 * s) // until the writer takes it
				c.want.Total, c.want.Reader = c.after+5*s, 5*s
				if got := done.Timings(); got != c.want || done.Fault == nil {
					t.Errorf("got %+v; want %+v", got, c.want)
				}
			})
		})
	}
}

// TestTimingsOfTheWatchAfterACancel: the server that goes on is what is waited for.
func TestTimingsOfTheWatchAfterACancel(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.chat("12s", "a") // the model says that it took half of that
		w.after(10 * time.Second)
		w.cancelling("a")
		w.after(time.Second)
		got := w.out.done("a").Timings()
		if got.Upstream != 6*time.Second+w.models.idle || got.Reader != 900*time.Millisecond {
			t.Errorf("got %+v", got)
		}
		adds(t, got)
	})
}

// TestTimingsAddUp in whole milliseconds, for chats that went well, failed or were given up.
func TestTimingsAddUp(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2}, func(w *world) {
		w.models.queue, w.models.load = 1_700*time.Microsecond, 2_900*time.Microsecond
		w.chat("3333us", "a", "b", "c")
		for id, agent := range map[wire.ID]string{"d": "broken", "e": "panics", "f": "slow"} {
			w.chatWith(id, &wire.ChatParams{Agent: agent, Input: "7777us"})
		}
		w.after(1_234_567 * time.Nanosecond)
		w.cancelling("b")
		w.after(time.Hour)
		for _, id := range []wire.ID{"a", "b", "c", "d", "e", "f"} {
			adds(t, w.out.done(id).Timings())
		}
	})
}

func adds(t *testing.T, m wire.Timings) {
	t.Helper()
	sum := time.Duration(0)
	for _, d := range []time.Duration{m.Queue, m.Load, m.Upstream, m.Tool, m.Engine, m.Reader} {
		if d < 0 || d%time.Millisecond != 0 {
			t.Errorf("%v is none of whole milliseconds: %+v", d, m)
		}
		sum += d
	}
	if sum != m.Total || m.Total == 0 {
		t.Errorf("the causes of %+v sum up to %v", m, sum)
	}
}

// TestAnswersAreCounted by method and outcome.
func TestAnswersAreCounted(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		for range 3 {
			w.ask(wire.MethodPing, nil)
		}
		_ = w.push(wire.Request{ID: "x", Fault: wire.NewFault(wire.CodeInvalidJSON, "no JSON")})
		w.chat("0s", "a")
		w.chatWith("b", &wire.ChatParams{Agent: "broken"})
		w.chatWith("c", &wire.ChatParams{Agent: "nobody"})
		w.after(time.Second)
		want := []wire.RequestStats{
			{Method: "chat", Outcome: "invalid_request", Count: 1}, {Method: "chat", Outcome: "model_missing", Count: 1},
			{Method: "chat", Outcome: "ok", Count: 1}, {Method: "ping", Outcome: "ok", Count: 3},
			{Method: "unknown", Outcome: "invalid_json", Count: 1},
		}
		got := w.Stats().Requests
		if len(got) != len(want) {
			t.Fatalf("got %+v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("got %+v; want %+v", got[i], want[i])
			}
		}
	})
}

// TestPlanningIsPartOfLoading: what of a plan fell into the chat's life counts, once for each start, and
// never more than the wait for the model.
func TestPlanningIsPartOfLoading(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct{ from, to, load, want time.Duration }{
		"within":                 {0, 30 * ms, 100 * ms, 30 * ms},
		"begun before":           {-20 * ms, 10 * ms, 100 * ms, 10 * ms},
		"over before":            {-20 * ms, -10 * ms, 100 * ms, 0},
		"more than was awaited":  {0, 30 * ms, 10 * ms, 10 * ms},
		"nothing was awaited":    {0, 30 * ms, 0, 0},
		"parts of a millisecond": {0, 1_999 * time.Microsecond, 3_999 * time.Microsecond, ms},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				w.after(time.Minute)
				w.models.load = c.load
				w.models.planned = [2]time.Time{time.Now().Add(c.from), time.Now().Add(c.to)}
				w.chat("1s", "a")
				w.after(time.Minute)
				got := w.out.done("a").Timings()
				if got.Plan != c.want || got.Load != c.load.Truncate(ms) {
					t.Errorf("got %+v", got)
				}
				adds(t, got)
			})
		})
	}
}
