package execute

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestEveryMessageEndsOnce plays random mixtures of messages of JSON-RPC: each request gets exactly one
// answer, each notification none, each stream exactly one end behind its answer and its events.
func TestEveryMessageEndsOnce(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			options := Options{MaxParallelChats: 1 + random.IntN(4), MaxPendingRequests: 1 + random.IntN(8), MaxPendingBytes: int64(20 + random.IntN(100))}
			inRPC(t, options, func(w rpcWorld) {
				w.user.slow = time.Duration(random.IntN(300)) * time.Millisecond
				w.user.stopTime = time.Duration(random.IntN(3)) * time.Second
				asked := w.mixMessages(random)
				if random.IntN(2) == 0 {
					w.Stop(errors.New("a signal"))
				}
				w.Wait()
				w.Farewell()
				w.answeredAndEnded(asked)
			})
		})
	}
}

// mixMessages pushes random messages and returns how many of them were requests.
func (w rpcWorld) mixMessages(random *rand.Rand) (asked int) {
	for i := range 60 {
		r := w.message(random)
		r.ID, r.Size = wire.ID(fmt.Sprint(i)), random.IntN(30)
		if random.IntN(8) == 0 {
			r.ID, r.Notification = "", true
		} else {
			asked++
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

func (w rpcWorld) message(random *rand.Rand) wire.Request {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	conversation := pick("c1", "c2", "none", "denied")
	switch random.IntN(9) {
	case 0:
		return request("", wire.MethodHealth, nil, 0)
	case 1:
		return request("", wire.MethodProfileSet, &wire.ProfileSetParams{Name: pick("a", "b")}, 0)
	case 2:
		return request("", wire.MethodProfileUse, &wire.ProfileParams{Profile: pick("corp", "out", "local", "nobody")}, 0)
	case 3:
		return request("", wire.MethodAgentsList, &wire.AgentsParams{Profile: pick("", "local", "nobody")}, 0)
	case 4:
		return request("", wire.MethodChatStop, &wire.StreamParams{InteractionID: conversation}, 0)
	case 5:
		return request("", wire.MethodChatCancel, &wire.StreamParams{Stream: w.someStream(random)}, 0)
	}
	input := pick("0s", "100ms", "1s", "3s", "fail", "panic")
	return request("", wire.MethodChatStart, &wire.ChatStartParams{
		Profile: pick("", "", "local", "local", "out"), WorkflowID: pick("assistant", "broken", "panics", "slow", "nobody"), WorkflowName: pick("", "n"),
		InteractionID: conversation, Input: `"` + input + `"`, Text: input, IsText: true,
	}, 0)
}

// someStream is one that was begun, or none.
func (w rpcWorld) someStream(random *rand.Rand) wire.ID {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	if len(w.out.chats) == 0 {
		return `"x"`
	}
	return w.out.chats[random.IntN(len(w.out.chats))].id
}

func (w rpcWorld) answeredAndEnded(asked int) {
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	answers, streams := 0, map[wire.ID]bool{}
	for id, replies := range w.out.replies {
		if id != "init" {
			answers++
		}
		for _, reply := range replies {
			if started, ok := reply.(*wire.ChatStarted); ok {
				streams[started.Stream] = true
			}
		}
		if len(replies) != 1 || id == "" {
			w.t.Errorf("%q has %d answers", id, len(replies))
		}
	}
	if answers != asked {
		w.t.Errorf("%d requests were answered %d times", asked, answers)
	}
	for _, c := range w.out.chats {
		want := 0
		if streams[c.id] {
			want = 1
		}
		if len(c.finals) != want || c.late > 0 || want == 0 && len(c.events) > 0 {
			w.t.Errorf("the stream %s, begun %d times, has %d ends and %d events behind them", c.id, want, len(c.finals), c.late)
		}
	}
	if w.models.leases != 0 || w.queue.free != w.options.MaxParallelChats || w.queue.held != 0 || w.queue.bytes != 0 ||
		len(w.chats.byID) != 0 || len(w.queue.coming) != 0 || len(w.arrivals.coming) != 0 {
		w.t.Errorf("left over: %d slots, %+v, %d chats", w.models.leases, &w.queue, len(w.chats.byID))
	}
}
