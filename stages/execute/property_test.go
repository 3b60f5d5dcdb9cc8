package execute

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestEveryRequestEndsOnce plays random mixtures of requests: each gets exactly one answer, each
// accepted chat exactly one final frame, behind all its events.
func TestEveryRequestEndsOnce(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			options := Options{MaxParallelChats: 1 + random.IntN(4), MaxPendingRequests: 1 + random.IntN(6), MaxPendingBytes: int64(20 + random.IntN(100))}
			inWorld(t, options, func(w *world) {
				w.models.idle = time.Duration(random.IntN(3)) * 500 * time.Millisecond
				asked := w.mix(random)
				if random.IntN(2) == 0 {
					w.Stop(errors.New("a signal"))
				}
				w.Wait()
				w.Farewell()
				w.answeredOnce(asked)
			})
		})
	}
}

// mix pushes random requests and returns how often each id was asked.
func (w *world) mix(random *rand.Rand) map[wire.ID]int {
	asked := map[wire.ID]int{}
	inputs := []string{"0s", "100ms", "1s", "3s", "fail", "odd", "panic"}
	names := []string{"", "", "", "slow", "broken", "panics", "nobody"}
	for range 60 {
		id := wire.ID(fmt.Sprint(random.IntN(20)))
		asked[id]++
		agent := names[random.IntN(len(names))]
		r := request(id, wire.MethodChat, &wire.ChatParams{Input: inputs[random.IntN(len(inputs))], Agent: agent}, random.IntN(40))
		switch random.IntN(10) {
		case 0:
			r.Method, r.Params = wire.MethodPing, nil
		case 1, 2:
			r.Method, r.Params = wire.MethodCancel, &wire.CancelParams{Target: wire.ID(fmt.Sprint(random.IntN(20)))}
		case 3:
			r.Method, r.Params = wire.MethodWarmup, &wire.WarmupParams{Agent: agent}
		}
		if err := w.push(r); err != nil {
			w.t.Error(err)
		}
		if random.IntN(2) == 0 {
			time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		}
	}
	return asked
}

func (w *world) answeredOnce(asked map[wire.ID]int) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	answers := map[wire.ID]int{}
	for id, replies := range w.out.replies {
		answers[id] += len(replies)
	}
	for _, c := range w.out.chats {
		answers[c.id] += len(c.finals)
		if len(c.finals) != 1 || c.late > 0 {
			w.t.Errorf("chat %s has %d final frames and %d events behind them", c.id, len(c.finals), c.late)
		}
	}
	for id, n := range asked {
		if answers[id] != n {
			w.t.Errorf("%s was asked %d times and answered %d times", id, n, answers[id])
		}
	}
	if w.models.leases != 0 || w.queue.free != w.options.MaxParallelChats || w.queue.held != 0 || w.queue.bytes != 0 || len(w.chats.byID) != 0 {
		w.t.Errorf("left over: %d slots, %+v, %d chats", w.models.leases, &w.queue, len(w.chats.byID))
	}
}
