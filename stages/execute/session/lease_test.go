package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// asChat opens a session from a goroutine of its own and tells when it waits and when it is open.
type asChat struct {
	waits  chan struct{}
	opened chan *Session
	failed chan error
}

func openLater(ctx context.Context, s *Store, user, session string) *asChat {
	c := &asChat{make(chan struct{}, 1), make(chan *Session, 1), make(chan error, 1)}
	go func() {
		opened, err := s.Open(ctx, user, session, func() { c.waits <- struct{}{} })
		if err != nil {
			c.failed <- err
			return
		}
		c.opened <- opened
	}()
	return c
}

func TestChatsOfASessionRunInOrder(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	ctx := context.Background()
	first := open(t, store, "u", "s")
	open(t, store, "v", "s").Close() // another user's
	open(t, store, "u", "t").Close()
	second := openLater(ctx, store, "u", "s")
	<-second.waits
	gone, leave := context.WithCancelCause(ctx)
	third := openLater(gone, store, "u", "s")
	<-third.waits
	fourth := openLater(ctx, store, "u", "s")
	<-fourth.waits
	reason := errors.New("cancelled by the host")
	leave(reason)
	if err := <-third.failed; err != reason {
		t.Fatalf("got %v", err)
	}
	say(t, first, "1", "1")
	first.Close()
	s := <-second.opened
	select {
	case <-fourth.opened:
		t.Fatal("two chats have one session")
	default:
	}
	say(t, s, "2", "2")
	s.Close()
	s = <-fourth.opened
	if got := inputs(history(t, s)); got != "2 1" {
		t.Fatalf("got %q", got)
	}
	s.Close()
}

func TestEnginesHaveASessionOneAfterTheOther(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	first := open(t, a, "u", "s")
	open(t, b, "u", "t").Close()
	gone, leave := context.WithCancelCause(ctx)
	second := openLater(gone, b, "u", "s")
	<-second.waits
	leave(errors.New("enough"))
	if err := <-second.failed; err == nil || err.Error() != "enough" {
		t.Fatalf("got %v", err)
	}
	third := openLater(ctx, b, "u", "s")
	<-third.waits
	id := say(t, first, "1", "1")
	first.Close()
	s := <-third.opened
	defer s.Close()
	noWarnings(t, s)
	if got := last(t, s); got == nil || got.ID != id || got.Response != "1" {
		t.Fatalf("got %+v", got)
	}
}

// A dead engine's session is free at once, by the lock that went with its process.
func TestADeadEnginesLeaseIsTakenOver(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	first := open(t, a, "u", "s")
	must(t, a.do(ctx, func(b *base) error { return b.engine.lock.Close() })) // as when its process ends
	second := open(t, b, "u", "s")
	say(t, second, "2", "2")
	turn := newTurn("late")
	if err := first.Begin(ctx, turn); !errors.Is(err, ErrLost) || turn.ID != 0 {
		t.Fatalf("got %v", err)
	}
	if got := inputs(history(t, second)); got != "2" {
		t.Fatalf("got %q", got)
	}
	second.Close()
	first.Close()
}

// expire makes the leases of a folder run out, as they do while an engine is suspended.
func expire(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.do(context.Background(), func(b *base) error {
		_, err := b.exec("UPDATE leases SET expires = ?", time.Now().UnixMilli()-1)
		return err
	}))
}

func TestASuspendedEngineWritesNoMore(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	first := open(t, a, "u", "s")
	turn := newTurn("1")
	must(t, first.Begin(ctx, turn))
	expire(t, a)
	must(t, first.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "still ours"})) // nobody took it
	second := open(t, b, "u", "s")
	if got := last(t, second); got == nil || got.Status != wire.TurnRunning || len(got.Steps) != 1 {
		t.Fatalf("got %+v", got)
	}
	for name, err := range map[string]error{
		"SaveStep":  first.SaveStep(ctx, turn.ID, &wire.TurnStep{Number: 1}),
		"End":       first.End(ctx, turn.ID, wire.TurnDone, "x"),
		"Resume":    first.Resume(ctx, turn.ID),
		"StartCall": first.Begin(ctx, newTurn("2")),
	} {
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, second.End(ctx, turn.ID, wire.TurnDone, "by the second"))
	first.Close() // takes nothing from the second
	must(t, second.Begin(ctx, newTurn("3")))
	if got := inputs(history(t, second)); got != "3 1" {
		t.Fatalf("got %q", got)
	}
	second.Close()
}

func TestLeasesAreRenewed(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	s := open(t, store, "u", "s")
	defer s.Close()
	expire(t, store)
	w := &writer{log: store.options.Logger, queues: &store.queues}
	must(t, store.do(context.Background(), func(b *base) error {
		w.base, w.engine.id, w.engine.left = b, b.engine.id, true
		if err := w.renewal()(b.connection); err != nil {
			return err
		}
		l, ok, err := readLease(b.connection, s.key)
		if !ok || time.Until(time.UnixMilli(l.expires)) < leaseTime/2 {
			t.Errorf("got %+v, %v, %v", l, ok, err)
		}
		return err
	}))
}

func TestClosingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	store := New(Options{Dir: dir})
	open(t, store, "u", "s") // not closed: its engine ends
	closeStore(t, store)
	closeStore(t, store)
	if _, err := store.Open(context.Background(), "u", "t", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, enginesFolder)); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	c, err := connect(filepath.Join(dir, fileName))
	must(t, err)
	defer c.close()
	if n, err := c.number("SELECT count(*) FROM leases"); err != nil || n != 0 {
		t.Errorf("%d leases are left, %v", n, err)
	}
	closeStore(t, New(Options{Dir: dir})) // never used
}

// What a killed engine left behind is cleared away by the next.
func TestDeadEnginesFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, enginesFolder), 0o700))
	stale := filepath.Join(dir, enginesFolder, randomName())
	must(t, os.WriteFile(stale, nil, 0o600))
	s := open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	testkit.Until(t, "the file is gone", func() bool { return !exists(stale) })
	if left, _ := os.ReadDir(filepath.Join(dir, enginesFolder)); len(left) != 1 {
		t.Errorf("%d engines", len(left))
	}
}

// A lease that could not be given back, because the file could not be written, goes with a renewal,
// though other chats of the engine go on.
func TestALeaseThatCouldNotBeGivenBack(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	other := open(t, store, "u", "other")
	defer other.Close()
	left := key{"u", "s"}
	must(t, store.do(context.Background(), func(b *base) error {
		w := &writer{log: store.options.Logger, queues: &store.queues, base: b, engine: engine{id: b.engine.id}}
		if err := w.engine.takeLease(b.connection, left, 7, time.Now()); err != nil {
			return err
		}
		w.finish(&job{release: &held{left, 7}, done: make(chan error, 1)}, errors.New("busy"))
		if err := w.renewal()(b.connection); err != nil {
			return err
		}
		_, gone, err := readLease(b.connection, left)
		_, kept, _ := readLease(b.connection, other.key)
		if gone || !kept {
			t.Errorf("given back: %v, the other's kept: %v", !gone, kept)
		}
		return err
	}))
}
