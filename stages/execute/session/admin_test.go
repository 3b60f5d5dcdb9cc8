package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSessionsAreListedAndDeleted(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	engine := newStore(t, Options{Dir: dir})
	for _, k := range []key{{"u", "old"}, {"v", "other"}, {"u", "new"}} {
		s := open(t, engine, k.user, k.session)
		say(t, s, "first of "+k.session, "yes")
		say(t, s, "second", "yes")
		s.Close()
	}
	must(t, engine.do(ctx, func(b *base) error { return b.script("UPDATE turns SET ended = ended + id") }))
	looker := newStore(t, Options{Dir: dir, Inspect: true})
	list, err := looker.List(ctx, "u")
	if err != nil || len(list) != 2 || list[0].Session != "new" || list[1].First != "first of old" || list[1].Turns != 2 || time.Since(list[0].Last) > time.Hour {
		t.Fatalf("got %+v, %v", list, err)
	}
	busy := open(t, engine, "u", "old")
	for _, store := range []*Store{engine, looker} {
		if n, err := store.Delete(ctx, "u", "old"); !errors.Is(err, ErrInUse) || n != 0 {
			t.Errorf("deleted %d, %v", n, err)
		}
	}
	busy.Close()
	must(t, engine.do(ctx, func(*base) error { return nil })) // its lease has gone by now
	if n, err := looker.Delete(ctx, "u", "old"); err != nil || n != 2 {
		t.Errorf("deleted %d, %v", n, err)
	}
	if n, err := looker.Delete(ctx, "u", "old"); err != nil || n != 0 {
		t.Errorf("deleted %d, %v", n, err)
	}
	turns, damaged, err := looker.Turns(ctx, "u", "old")
	if err != nil || len(turns) != 0 || len(damaged) != 0 {
		t.Errorf("got %+v, %v, %v", turns, damaged, err)
	}
	if turns, _, err = looker.Turns(ctx, "v", "other"); err != nil || inputs(turns) != "first of other second" {
		t.Errorf("got %+v, %v", turns, err)
	}
	// Memory learns of each turn that ended, and that two are gone.
	must(t, engine.do(ctx, func(b *base) error {
		ended, _ := b.number("SELECT count(*) FROM journal WHERE deleted = 0")
		deleted, err := b.number("SELECT count(*) FROM journal WHERE deleted = 1 AND turn_id IN (1, 2) AND seq > 6")
		if ended != 6 || deleted != 2 {
			t.Errorf("%d ended, %d deleted", ended, deleted)
		}
		return err
	}))
}

func TestLookingMakesNothing(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "data")
	looker := newStore(t, Options{Dir: dir, Inspect: true})
	if list, err := looker.List(ctx, "u"); !errors.Is(err, ErrNoFile) || len(list) != 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := looker.Delete(ctx, "u", "s"); !errors.Is(err, ErrNoFile) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
