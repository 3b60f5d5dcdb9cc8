package llama

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSlotsAreGivenInArrivalOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{Parallel: 2})
		defer stop()
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		active, most := 0, 0
		m.route("/props", answer(503, "")) // they queue while the model loads, too
		for n := range 10 {
			if n == 5 {
				m.route("/props", answer(200, "{}"))
				time.Sleep(time.Second)
				synctest.Wait()
			}
			all.Go(func() {
				lease, err := s.Acquire(t.Context(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, n)
				active++
				most = max(most, active)
				mu.Unlock()
				time.Sleep(time.Minute + time.Duration(n)*time.Second) // work, in the test's time
				mu.Lock()
				active--
				mu.Unlock()
				lease.Release()
				lease.Release()
			})
			synctest.Wait()
		}
		all.Wait()
		if most != 2 || !slices.IsSorted(order[2:]) || len(order) != 10 {
			t.Errorf("most %d at once, order %v", most, order)
		}
	})
}

func TestQueueTimeAndPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{Parallel: 1})
		defer stop()
		first := acquire(t, s)
		time.AfterFunc(3*time.Second, first.Release)
		var phases []Phase
		second, err := s.Acquire(t.Context(), func(p Phase) { phases = append(phases, p) })
		if err != nil {
			t.Fatal(err)
		}
		defer second.Release()
		if second.Queue != 3*time.Second || second.Load != 0 {
			t.Errorf("queue %s, load %s", second.Queue, second.Load)
		}
		if !slices.Equal(phases, []Phase{PhaseQueue}) {
			t.Errorf("phases %q", phases)
		}
		if err := s.Warm(t.Context(), nil); err != nil {
			t.Errorf("Warm waits for a slot: %v", err)
		}
	})
}

func TestWhoGivesUpTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{Parallel: 1})
		defer stop()
		reason := errors.New("given up")
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		if _, err := s.Acquire(gone, nil); err != reason {
			t.Errorf("got %v", err)
		}
		first := acquire(t, s)
		waiting, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		if _, err := s.Acquire(waiting, nil); err != reason {
			t.Errorf("got %v", err)
		}
		// The turn and the cancellation come in the same moment: whatever wins, the slot is free after.
		racing, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { first.Release(); cancel(reason) })
		if lease, err := s.Acquire(racing, nil); err == nil {
			lease.Release()
		}
		acquire(t, s).Release()
	})
}
