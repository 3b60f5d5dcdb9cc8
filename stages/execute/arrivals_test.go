package execute

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/wire"
)

// pushInSession pushes chats of one session at once and returns their ids.
func (w *world) pushInSession(count int, more ...wire.Request) (ids []string) {
	w.t.Helper()
	var requests []wire.Request
	for i := range count {
		id := fmt.Sprintf("%02d", i)
		ids = append(ids, id)
		requests = append(requests, request(wire.ID(id), wire.MethodChat, &wire.ChatParams{SessionID: "s", Input: "1s"}, 10))
	}
	if err := w.push(append(requests, more...)...); err != nil {
		w.t.Error(err)
	}
	return ids
}

// answered are the chats that had their result, in order.
func (w *world) answered() (ids []string) {
	for _, line := range w.out.taken() {
		var at, id, what string
		if n, _ := fmt.Sscan(line, &at, &id, &what); n == 3 && what == "result" {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestChatsOfASessionRunInArrivalOrder(t *testing.T) {
	for _, parallel := range []int{1, 3, 64} {
		inWorld(t, Options{MaxParallelChats: parallel, Sessions: newSessions()}, func(w *world) {
			ids := w.pushInSession(40)
			w.after(time.Hour)
			if got := w.answered(); !slices.Equal(got, ids) {
				t.Errorf("%d at once: they ran in the order %v", parallel, got)
			}
			w.arrivals.empty(t)
		})
	}
}

// A chat that gives up on the way to its session lets the next one come.
func TestAChatThatGivesUpBeforeItsSessionHoldsNobodyUp(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2, Sessions: newSessions()}, func(w *world) {
		cancel := request("cancel", wire.MethodCancel, &wire.CancelParams{Target: "03"}, 10)
		ids := w.pushInSession(6, cancel)
		w.after(time.Hour)
		if got, want := w.answered(), slices.Delete(ids, 3, 4); !slices.Equal(got, want) {
			t.Errorf("they ran in the order %v, want %v", got, want)
		}
		w.arrivals.empty(t)
	})
}

func (a *arrivals) empty(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.coming) > 0 {
		t.Errorf("places are left: %v", a.coming)
	}
}
