package execute

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// TestNoPlaceIsLost plays random mixtures of chats that share few sessions, with cancels at any moment:
// at the end every place, session, slot and question is free.
func TestNoPlaceIsLost(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 4))
			sessions := newSessions()
			options := withTools(&fakeTools{connect: time.Duration(random.IntN(2)) * 700 * time.Millisecond})
			options.MaxParallelChats, options.MaxPendingRequests, options.Sessions = 1+random.IntN(3), 3+random.IntN(10), sessions
			options.ApprovalTimeout = 2 * time.Second
			inWorld(t, options, func(w *world) {
				w.ask(wire.MethodInitialize, &wire.InitializeParams{Extensions: []string{"approval"}})
				asked := w.mixSessions(random)
				if random.IntN(3) == 0 {
					w.Stop(errors.New("a signal"))
				}
				w.Wait()
				w.answeredOnce(asked)
				if len(w.queue.waiting) > 0 || len(w.queue.coming) > 0 || len(w.approvals.pending) > 0 {
					t.Errorf("left over: %+v, %d questions", &w.queue, len(w.approvals.pending))
				}
				for _, key := range sessions.opened {
					if sessions.held[key] || len(sessions.queue[key]) > 0 {
						t.Errorf("the session %s is still taken", key)
					}
				}
			})
		})
	}
}

// mixSessions pushes random chats, cancels and approvals and returns how often each chat's id was asked.
func (w *world) mixSessions(random *rand.Rand) map[wire.ID]int {
	asked := map[wire.ID]int{}
	inputs := []string{"0s", "1s", "3s", "fail", "panic", "call s__10s s__echo", "call s__ask s__echo", "call nothing"}
	agents := []string{"", "", "", "", "panics"}
	for range 60 {
		id := wire.ID(fmt.Sprint(random.IntN(15)))
		var r wire.Request
		switch random.IntN(10) {
		case 0, 1, 2:
			r = request("control", wire.MethodCancel, &wire.CancelParams{Target: id}, 1)
		case 3:
			r = request("control", wire.MethodApprove, &wire.ApproveParams{Target: id, CallID: "call0", Decision: wire.DecisionOnce}, 1)
		default:
			r = request(id, wire.MethodChat, &wire.ChatParams{SessionID: fmt.Sprint("s", random.IntN(3)), Input: inputs[random.IntN(len(inputs))], Agent: agents[random.IntN(len(agents))]}, random.IntN(40))
			asked[id]++
		}
		if err := w.push(r); err != nil {
			w.t.Error(err)
		}
		if random.IntN(2) == 0 {
			time.Sleep(time.Duration(random.IntN(4)) * 500 * time.Millisecond)
		}
	}
	return asked
}

// TestAdmissionKeepsItsBound plays tickets alone that park, rejoin and give up at any moment: never run
// more than may, and at the end all places are free.
func TestAdmissionKeepsItsBound(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			places := 1 + random.IntN(4)
			p := &parkers{queue: admission{free: places, maxWaiting: 100, maxBytes: 1000}, places: places}
			var all sync.WaitGroup
			for range 30 {
				ticket, times := p.queue.enter(1+random.IntN(20)), random.IntN(3)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(12))*time.Second)
				pauses := [4]time.Duration{}
				for i := range pauses {
					pauses[i] = time.Duration(random.IntN(4)) * time.Second
				}
				if ticket != nil {
					all.Go(func() { p.live(ctx, ticket, times, pauses) })
				}
				time.Sleep(time.Duration(random.IntN(2)) * time.Second)
				all.Go(func() { <-ctx.Done(); cancel() })
			}
			all.Wait()
			q := &p.queue
			if p.over > 0 || q.free != places || q.held != 0 || q.bytes != 0 || len(q.waiting) != 0 || len(q.coming) != 0 {
				t.Errorf("seed %d: %d times more than %d ran; left over: %+v", seed, p.over, places, q)
			}
		})
	}
}

// parkers are tickets of one queue.
type parkers struct {
	queue         admission
	places        int
	mu            sync.Mutex
	running, over int
}

func (p *parkers) runs(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running += change; p.running > p.places {
		p.over++
	}
}

// live is a chat's way through the queue.
func (p *parkers) live(ctx context.Context, ticket *ticket, times int, pauses [4]time.Duration) {
	defer p.queue.arrived(ticket)
	if p.queue.wait(ctx, ticket, func(int) {}) != nil {
		return
	}
	p.runs(1)
	for i := range times {
		_ = sleep(ctx, pauses[i])
		p.queue.arrived(ticket)
		p.runs(-1)
		p.queue.park(ticket.size)
		if sleep(ctx, pauses[i+1]) != nil { // cancelled while parked
			p.queue.drop(ticket.size)
			return
		}
		if p.queue.rejoin(ctx, ticket.size) != nil {
			return
		}
		p.runs(1)
	}
	_ = sleep(ctx, pauses[3])
	p.runs(-1)
	p.queue.leave()
}
