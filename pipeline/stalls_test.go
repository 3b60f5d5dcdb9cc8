package pipeline

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// reports gathers the stalls of several chats.
type reports struct {
	mu     sync.Mutex
	stalls []wire.Stall
}

func (r *reports) add(s wire.Stall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stalls = append(r.stalls, s)
}

// TestUpstreamStallLasts: it counts from the threshold on, grows, and is reported once it has ended, by
// tokens or by the end of the stream.
func TestUpstreamStallLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reports
		e := newEngine(t, testkit.Pace{}, func(o *Options) { o.StallThreshold, o.OnStall = 1500*time.Millisecond, r.add })
		e.send(`{"id":"a","method":"chat","params":{"input":"x HANG"}}`) // x comes after 2 s
		want := func(at time.Duration, counted wire.StallStats, reported int) {
			t.Helper()
			time.Sleep(time.Until(e.start.Add(at)))
			synctest.Wait()
			if s := e.Stats(); s.StallUpstream != counted || s.StallEngine.Count != 0 || len(r.stalls) != reported {
				t.Errorf("after %v: upstream %+v, engine %+v, %d reported", at, s.StallUpstream, s.StallEngine, len(r.stalls))
			}
		}
		want(1900*time.Millisecond, wire.StallStats{}, 0) // before the first token nothing stalls
		want(3400*time.Millisecond, wire.StallStats{}, 0)
		want(3500*time.Millisecond, wire.StallStats{Count: 1, Time: 1500 * time.Millisecond}, 0)
		want(7*time.Second, wire.StallStats{Count: 1, Time: 5 * time.Second}, 0)
		e.send(`{"id":"c","method":"cancel"}`)
		took := 5*time.Second + closeTime
		want(9*time.Second, wire.StallStats{Count: 1, Time: took}, 1)
		_ = e.in.Close()
		e.end(EndOfInput)
		want(20*time.Second, wire.StallStats{Count: 1, Time: took}, 1)
		if s := r.stalls[0]; s.Cause != wire.CauseUpstream || s.Took != took || s.Request != `"a"` || !s.Ended.Equal(e.start.Add(7*time.Second+closeTime)) {
			t.Errorf("reported %+v", s)
		}
	})
}

// TestStallTellsTheQueue, as deep as it is then.
func TestStallTellsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reports
		e := newEngine(t, testkit.Pace{Paused: true}, func(o *Options) { o.StallThreshold, o.OnStall = 900*time.Millisecond, r.add })
		e.send(`{"id":"a","method":"chat","params":{"input":"x y"}}`)
		_ = e.in.Close()
		time.Sleep(5 * time.Second)
		e.out.Resume()
		e.end(EndOfInput)
		if len(r.stalls) != 1 || r.stalls[0].Frames == 0 || r.stalls[0].Bytes == 0 {
			t.Errorf("reported %+v", r.stalls)
		}
	})
}

// TestEngineStallIsReported while the server isn't waited for.
func TestEngineStallIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reports
		s := newStalls(time.Second)
		s.report = r.add
		tap := &tap{apply: func(*wire.Tokens) *wire.Events { return &wire.Events{Items: make([]wire.Event, 1)} }, tokens: func(int64) {}, stalls: s, id: "7"}
		s.enter(tap)
		frames := &wire.Frames{}
		tap.observe(&wire.Tokens{Items: make([]wire.Token, 1)})
		arrived := time.Now()
		_ = stepSink{&lane{slow: 2 * time.Second}, tap}.Push(context.Background(), frames)
		want := []wire.Stall{{Cause: wire.CauseEngine, Took: 2 * time.Second, Ended: time.Now(), Request: "7"}}
		if !slices.Equal(r.stalls, want) || !frames.Arrived.Equal(arrived) {
			t.Errorf("reported %+v, arrived %v", r.stalls, frames.Arrived)
		}
		s.leave(tap)
		if len(s.taps) != 0 {
			t.Error("it is still looked at")
		}
	})
}

// TestChatTime sums all chats, however they ended.
func TestChatTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		e.send(`{"id":1,"method":"chat","params":{"input":"x"}}`, `{"id":2,"method":"chat","params":{"input":"x FAIL"}}`, `{"id":3,"method":"chat","params":{"input":"x"}}`)
		time.Sleep(500 * time.Millisecond)
		e.send(`{"id":4,"method":"cancel","params":{"request_id":3}}`)
		_ = e.in.Close()
		e.end(EndOfInput)
		const s = time.Second
		got := e.Stats().ChatTime
		want := wire.Timings{Queue: s / 2, Load: 2 * s, Upstream: 3 * s, TTFT: 4 * s, Total: 5*s + s/2}
		if got != want {
			t.Errorf("got %+v; want %+v", got, want)
		}
	})
}
