package execute

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"sluice/internal/wire"
)

// inSession pushes a chat of a session that takes a time.
func (w *world) inSession(id wire.ID, session, input string) {
	w.t.Helper()
	w.chatWith(id, &wire.ChatParams{SessionID: session, Input: input})
}

// states returns what stats tells of each chat.
func (w *world) states() map[wire.ID]string {
	states := map[wire.ID]string{}
	for _, c := range w.Stats().Chats {
		states[c.ID] = c.State
	}
	return states
}

func (w *world) inStates(want map[wire.ID]string) {
	w.t.Helper()
	if got := w.states(); !maps.Equal(got, want) {
		w.t.Errorf("after %v: got %v; want %v", time.Since(w.out.start), got, want)
	}
}

// places checks what is left of the queue.
func (w *world) places(free, held int) {
	w.t.Helper()
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	if w.queue.free != free || w.queue.held != held || held == 0 && w.queue.bytes != 0 {
		w.t.Errorf("after %v: %d places are free, %d requests of %d bytes wait; want %d, %d", time.Since(w.out.start), w.queue.free, w.queue.held, w.queue.bytes, free, held)
	}
}

// TestChatThatWaitsForItsSession holds neither a running place nor a slot of the model.
func TestChatThatWaitsForItsSession(t *testing.T) {
	sessions := newSessions()
	inWorld(t, Options{MaxParallelChats: 2, Sessions: sessions}, func(w *world) {
		w.inSession("a", "s", "10s")
		w.inSession("b", "s", "1s")
		w.places(1, 1)
		w.inSession("c", "t", "3s")
		w.places(0, 1)
		w.inSession("d", "t", "1s")
		w.inStates(map[wire.ID]string{"a": "running", "b": "session", "c": "running", "d": "waiting"})
		w.after(time.Minute)
		w.saying("0s a run_start", "0s a llm_start", "0s b run_start", "0s c run_start", "0s c llm_start",
			"3s c llm_done", "3s c final", "3s c result", "3s d run_start", "3s d llm_start", "4s d llm_done", "4s d final", "4s d result",
			"10s a llm_done", "10s a final", "10s a result", "10s b llm_start", "11s b llm_done", "11s b final", "11s b result")
		w.places(2, 0)
		if w.models.max != 2 {
			t.Errorf("%d slots were used at once", w.models.max)
		}
		if timings := w.out.done("b").Timings(); timings.Queue != 10*time.Second {
			t.Errorf("its timings are %+v", timings)
		}
	})
}

// TestManyOfOneSessionRunOneAfterTheOther, in the order of arrival, while others go on beside them.
func TestManyOfOneSessionRunOneAfterTheOther(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2, Sessions: newSessions()}, func(w *world) {
		for i := range 8 {
			w.inSession(wire.ID(fmt.Sprint(i)), "s", "1s")
		}
		w.inSession("other", "t", "1s")
		w.after(time.Minute)
		var order []string
		for _, line := range w.out.taken() {
			var at, id, what string
			if _, _ = fmt.Sscan(line, &at, &id, &what); what == "final" && id != "other" {
				order = append(order, at+" "+id)
			}
		}
		if want := []string{"1s 0", "2s 1", "3s 2", "4s 3", "5s 4", "6s 5", "7s 6", "8s 7"}; !slices.Equal(order, want) {
			t.Errorf("got %q", order)
		}
		if done := w.out.done("other"); done == nil || done.Timings().TTFT != time.Second {
			t.Errorf("the other one ended with %+v", done)
		}
		w.places(2, 0)
	})
}

// TestParkedChatLetsOthersComeToTheServer: it gave its place in the order of arrival up, and comes as
// soon as it has its session.
func TestParkedChatLetsOthersComeToTheServer(t *testing.T) {
	sessions := newSessions()
	agents, chats, names := ordered(4)
	inWorld(t, Options{Agents: agents, Sessions: sessions}, func(w *world) {
		sessions.hold(defaultUser + "/s")
		for i := range chats {
			chats[i].Params.(*wire.ChatParams).SessionID = []string{"x", "s", "y", "z"}[i]
		}
		if err := w.push(chats...); err != nil {
			t.Error(err)
		}
		w.after(time.Minute)
		if want := []string{names[0], names[2], names[3]}; !slices.Equal(w.models.arrivals(), want) {
			t.Errorf("they came in the order %v", w.models.arrivals())
		}
		sessions.release(defaultUser + "/s")
		w.after(time.Second)
		if w.out.done(wire.ID(names[1])) == nil || w.models.arrivals()[3] != names[1] {
			t.Errorf("they came in the order %v", w.models.arrivals())
		}
	})
}

// TestRejoinComesFirst: one that has its session at last runs before those that have not run at all.
func TestRejoinComesFirst(t *testing.T) {
	sessions := newSessions()
	inWorld(t, Options{MaxParallelChats: 1, Sessions: sessions}, func(w *world) {
		sessions.hold(defaultUser + "/s")
		w.inSession("parked", "s", "1s")
		w.inSession("runs", "t", "10s")
		w.inSession("waits", "u", "1s")
		w.places(0, 2)
		w.after(4 * time.Second)
		sessions.release(defaultUser + "/s")
		w.after(time.Second)
		w.places(0, 2)
		w.inStates(map[wire.ID]string{"parked": "waiting", "runs": "running", "waits": "waiting"})
		w.after(5 * time.Second)
		w.inStates(map[wire.ID]string{"parked": "running", "waits": "waiting"})
		w.places(0, 1)
		w.after(time.Minute)
		w.places(1, 0)
		if timings := w.out.done("parked").Timings(); timings.Queue != 10*time.Second {
			t.Errorf("its timings are %+v", timings)
		}
	})
}

// TestParkedChatsCount against max_pending_requests and max_pending_bytes.
func TestParkedChatsCount(t *testing.T) {
	for _, options := range []Options{{MaxPendingRequests: 2}, {MaxPendingBytes: 25}} {
		options.MaxParallelChats, options.Sessions = 1, newSessions()
		sessions := options.Sessions.(*fakeSessions)
		inWorld(t, options, func(w *world) {
			sessions.hold(defaultUser + "/s")
			w.inSession("p1", "s", "1s")
			w.inSession("p2", "s", "1s")
			w.places(1, 2)
			w.inSession("runs", "t", "10s")
			w.inSession("over", "u", "1s")
			w.saying("0s p1 run_start", "0s p2 run_start", "0s runs run_start", "0s runs llm_start", "0s over overloaded")
			w.cancelling("p2")
			w.saying("0s ask CancelDone", "0s p2 cancelled")
			w.places(0, 1)
			w.inSession("fits", "u", "1s")
			w.inStates(map[wire.ID]string{"p1": "session", "runs": "running", "fits": "waiting"})
		})
	}
}

// TestEndsOfParkedChats: whatever ends them, nothing is left over.
func TestEndsOfParkedChats(t *testing.T) {
	for name, end := range map[string]func(*world){
		"cancel": func(w *world) { w.cancelling("parked") },
		"stop":   func(w *world) { w.Stop(errors.New("a signal")) },
	} {
		for _, rejoining := range []bool{false, true} {
			t.Run(fmt.Sprint(name, rejoining), func(t *testing.T) {
				sessions := newSessions()
				inWorld(t, Options{MaxParallelChats: 1, Sessions: sessions}, func(w *world) {
					sessions.hold(defaultUser + "/s")
					w.inSession("parked", "s", "1s")
					w.inSession("runs", "t", "10s")
					w.after(time.Second)
					if rejoining {
						sessions.release(defaultUser + "/s")
						w.after(time.Second)
					}
					end(w)
					w.after(time.Minute)
					done := w.out.done("parked")
					if done == nil || done.Fault == nil || done.Fault.Code != wire.CodeCancelled || name == "cancel" && done.Steps != 0 {
						t.Fatalf("it ended with %+v", done)
					}
					if done.Steps == 0 { // a stop may give it the other one's place first, and end its step
						adds(t, done.Timings())
					}
					w.places(1, 0)
					if rejoining && !sessions.hold(defaultUser+"/s") {
						t.Error("the session was not given back")
					}
				})
			})
		}
	}
}
