package execute

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// starts returns when the chats started, from what was handed over since the last time.
func (w *world) starts() map[string]string {
	starts := map[string]string{}
	for _, line := range w.out.taken() {
		if at, id, ok := strings.Cut(strings.TrimSuffix(line, " run_start"), " "); ok && strings.HasSuffix(line, " run_start") {
			starts[id] = at
		}
	}
	return starts
}

func TestChatsWaitInArrivalOrder(t *testing.T) {
	for parallel, want := range map[int]map[string]string{
		1: {"a": "0s", "b": "1s", "c": "2s", "d": "3s", "e": "4s"},
		2: {"a": "0s", "b": "0s", "c": "1s", "d": "1s", "e": "2s"},
		5: {"a": "0s", "b": "0s", "c": "0s", "d": "0s", "e": "0s"},
	} {
		inWorld(t, Options{MaxParallelChats: parallel}, func(w *world) {
			w.chat("1s", "a", "b", "c", "d", "e")
			w.after(time.Minute)
			if got := w.starts(); !maps.Equal(got, want) {
				t.Errorf("%d at once: got %v; want %v", parallel, got, want)
			}
			for _, c := range w.out.chats {
				if len(c.finals) != 1 || c.finals[0].Fault != nil {
					t.Errorf("%s: %+v", c.id, c.finals)
				}
			}
		})
	}
}

func TestOverloadedByCount(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1, MaxPendingRequests: 2}, func(w *world) {
		w.chat("1s", "a", "b", "c", "d")
		w.saying("0s a run_start", "0s a llm_start", "0s d overloaded")
		w.cancelling("b")
		w.saying("0s ask CancelDone", "0s b cancelled")
		w.chat("1s", "d", "e")
		w.saying("0s e overloaded")
		w.after(time.Second)
		w.out.taken()
		w.chat("1s", "e", "f")
		w.saying("1s f overloaded")
	})
}

func TestOverloadedByBytes(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1, MaxPendingBytes: 100}, func(w *world) {
		push := func(id wire.ID, size int) {
			if err := w.push(request(id, wire.MethodChat, &wire.ChatParams{Input: "1s"}, size)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		push("big", 1000) // runs at once: it doesn't wait
		push("a", 60)
		push("b", 41)
		push("c", 40)
		push("d", 1)
		w.saying("0s big run_start", "0s big llm_start", "0s b overloaded", "0s d overloaded")
		w.after(time.Second)
		w.out.taken()
		push("e", 61)
		push("f", 60)
		w.saying("1s e overloaded")
	})
}

func TestWarmupsWaitToo(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1, MaxPendingRequests: 1}, func(w *world) {
		slow := &wire.WarmupParams{Agent: "slow"}
		_ = w.push(request("w1", wire.MethodWarmup, slow, 10), request("w2", wire.MethodWarmup, slow, 10))
		w.saying("0s w2 overloaded")
		w.chat("1s", "runs", "waits")
		w.saying("0s runs run_start", "0s runs llm_start", "0s waits overloaded")
		w.after(3 * time.Minute)
		w.saying("1s runs llm_done", "1s runs final", "1s runs result", "3m0s w1 WarmupDone")
		if load := w.out.last("w1").(*wire.WarmupDone).Load; load != 3*time.Minute {
			t.Errorf("it took %v", load)
		}
		w.chat("1s", "runs", "waits")
		w.saying("3m0s runs run_start", "3m0s runs llm_start")
	})
}

func TestDefaultBounds(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		for range 16 + 1024 {
			w.chat("1h", wire.ID(randomHex(8)))
		}
		w.out.taken()
		w.chat("1h", "a")
		w.saying("0s a overloaded")
	})
}

// TestClosedGate lets no chat start, but lets it be cancelled.
func TestClosedGate(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.out.gate = make(chan struct{})
		w.chat("1s", "a", "b")
		w.after(time.Second)
		w.saying()
		w.cancelling("a")
		w.saying("1s ask CancelDone", "1s a cancelled")
		w.after(time.Second)
		close(w.out.gate)
		w.saying("2s b run_start", "2s b llm_start")
		w.after(time.Second)
		if queue := w.out.done("b").Timings().Queue; queue != 2*time.Second {
			t.Errorf("it was queued for %v", queue)
		}
	})
}

// TestClosedGateHoldsTheRestOfABatch: one read may bring thousands of requests with long replies.
func TestClosedGateHoldsTheRestOfABatch(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.out.gate = make(chan struct{})
		batch := func(ctx context.Context, ids ...wire.ID) <-chan error {
			requests := &wire.Requests{}
			for _, id := range ids {
				requests.Items = append(requests.Items, request(id, wire.MethodStats, nil, 10))
			}
			pushed := make(chan error, 1)
			go func() { pushed <- w.Push(ctx, requests) }()
			return pushed
		}
		ended, end := context.WithCancel(context.Background())
		first := batch(ended, "a", "b")
		w.saying("0s a Stats")
		end()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the end of the input gave %v", err)
		}
		second := batch(context.Background(), "c", "d")
		w.saying("0s c Stats")
		close(w.out.gate)
		if err := <-second; err != nil {
			t.Error(err)
		}
		w.saying("0s d Stats")
	})
}
