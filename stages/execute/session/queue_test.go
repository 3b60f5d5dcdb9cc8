package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestManyChatsOfManyEngines(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})}
	const chats, sessions, turns = 64, 20, 3
	var all sync.WaitGroup
	for i := range chats {
		all.Go(func() {
			for n := range turns {
				s, err := stores[i%len(stores)].Open(context.Background(), "u", fmt.Sprint(i%sessions), nil)
				if err != nil {
					t.Error(err)
					return
				}
				say(t, s, fmt.Sprintf("%d.%d", i, n), "yes")
				if w := s.Warnings(); len(w) > 0 {
					t.Errorf("warnings %q", w)
				}
				s.Close()
			}
		})
	}
	all.Wait()
	list, err := stores[0].List(context.Background(), "u")
	must(t, err)
	got := 0
	for _, one := range list {
		got += one.Turns
	}
	if got != chats*turns || len(list) != sessions {
		t.Errorf("%d turns in %d sessions", got, len(list))
	}
}

func TestQueueGivesUpAnywhere(t *testing.T) {
	var q queues
	k := key{"u", "s"}
	must(t, q.join(context.Background(), k, nil))
	var turns []chan struct{}
	for range 3 {
		turn, first := q.enter(k)
		if first {
			t.Fatal("two have it")
		}
		turns = append(turns, turn)
	}
	q.giveUp(k, turns[1])
	q.leave(k)
	<-turns[0]
	q.giveUp(k, turns[0]) // it became its turn while it gave up
	<-turns[2]
	q.leave(k)
	if q.busy() || slices.Contains(turns, nil) {
		t.Error("the queue isn't empty")
	}
}
