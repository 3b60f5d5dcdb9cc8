package execute

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// ordered returns an agent and a chat for each number; the agents' models tell who came.
func ordered(count int) (agents []Agent, chats []wire.Request, names []string) {
	for i := range count {
		name := fmt.Sprintf("%02d", i)
		names = append(names, name)
		agents = append(agents, Agent{Name: name, Model: name})
		chats = append(chats, request(wire.ID(name), wire.MethodChat, &wire.ChatParams{Agent: name, Input: "1s"}, 10))
	}
	return agents, chats, names
}

func TestChatsComeToTheServerInArrivalOrder(t *testing.T) {
	for _, parallel := range []int{1, 3, 16} {
		agents, chats, names := ordered(40)
		inWorld(t, Options{MaxParallelChats: parallel, Agents: agents}, func(w *world) {
			if err := w.push(chats...); err != nil {
				t.Error(err)
			}
			w.after(time.Minute)
			if !slices.Equal(w.models.came, names) {
				t.Errorf("%d at once: they came in the order %v", parallel, w.models.came)
			}
		})
	}
}

// A chat that gives up before it came, or whose server fails, lets the next one come.
func TestAChatThatGivesUpHoldsNobodyUp(t *testing.T) {
	agents, chats, names := ordered(6)
	agents[1].Model, agents[4].Model = "panics", "broken"
	inWorld(t, Options{MaxParallelChats: 2, Agents: agents}, func(w *world) {
		cancel := request("cancel", wire.MethodCancel, &wire.CancelParams{Target: wire.ID(names[3])}, 10)
		if err := w.push(append(chats, cancel)...); err != nil {
			t.Error(err)
		}
		w.after(time.Minute)
		if want := []string{"00", "panics", "02", "broken", "05"}; !slices.Equal(w.models.came, want) {
			t.Errorf("they came in the order %v", w.models.came)
		}
	})
}

// One that waits at its server doesn't hold up the others, which may want another server.
func TestAChatThatWaitsAtItsServerLetsTheNextCome(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		slow := request("slow", wire.MethodChat, &wire.ChatParams{Agent: "slow"}, 10)
		fast := request("fast", wire.MethodChat, &wire.ChatParams{Input: "1s"}, 10)
		if err := w.push(slow, fast); err != nil {
			t.Error(err)
		}
		w.after(time.Second)
		synctest.Wait()
		if w.out.done("fast") == nil || w.out.done("slow") != nil {
			t.Error("the fast chat waited for the slow one's server")
		}
	})
}
