package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice/internal/testkit"
)

func init() { children["shares"] = childThatShares }

const sharedTurns = 60

// childThatShares runs turns, every other one in the session that all have in common.
func childThatShares(arguments []string) int {
	store := New(Options{Dir: arguments[0]})
	for n := range sharedTurns {
		session := "common"
		if n%2 == 1 {
			session = arguments[1]
		}
		if err := runTurn(store, session, fmt.Sprintf("%s.%d", arguments[1], n)); err != nil {
			return fail(err)
		}
	}
	if err := store.Close(context.Background()); err != nil {
		return fail(err)
	}
	return 0
}

func TestEnginesShareAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var commands []*exec.Cmd
	for _, name := range []string{"a", "b"} {
		command, lines := child(t, "shares", dir, name)
		go func() {
			for lines.Scan() {
			}
		}()
		commands = append(commands, command)
	}
	for _, command := range commands {
		must(t, command.Wait())
	}
	list, err := newStore(t, Options{Dir: dir, Inspect: true}).List(context.Background(), "u")
	got := map[string]int{}
	for _, one := range list {
		got[one.Session] = one.Turns
	}
	if err != nil || len(got) != 3 || got["common"] != sharedTurns || got["a"] != sharedTurns/2 || got["b"] != sharedTurns/2 {
		t.Errorf("got %v, %v", got, err)
	}
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "common")
	defer s.Close()
	for _, turn := range history(t, s) {
		if turn.Response != response(turn.Input) {
			t.Errorf("turn %s: %+v", turn.Input, turn)
		}
	}
	testkit.Until(t, "the engines' files are gone", func() bool {
		left, _ := os.ReadDir(filepath.Join(dir, enginesFolder))
		return len(left) == 1
	})
}
