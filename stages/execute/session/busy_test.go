package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// hold has another connection hold a folder's file as an engine does that was suspended in the middle of a
// write, until the returned function is called.
func hold(t *testing.T, dir, begin string) (free func()) {
	t.Helper()
	c, err := connect(filepath.Join(dir, fileName))
	must(t, err)
	must(t, c.script(begin))
	freed := false
	free = func() {
		if !freed {
			freed = true
			c.rollback()
			must(t, c.close())
		}
	}
	t.Cleanup(free)
	return free
}

const write = "BEGIN IMMEDIATE"

// soon is a context that ends while a write waits.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// left makes a write whose context ends until it is left to the writer: with little patience the writer may
// answer first.
func left(t *testing.T, file string, write func() error) {
	t.Helper()
	err := write()
	for isBusy(err) {
		err = write()
	}
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "stored once") {
		t.Errorf("got %v", err)
	}
}

// storedTurns are a session's turns as another engine sees them.
func storedTurns(t *testing.T, dir, session string) []wire.Turn {
	t.Helper()
	store := New(Options{Dir: dir, Inspect: true})
	defer closeStore(t, store)
	turns, damaged, err := store.Turns(context.Background(), "u", session)
	if err != nil || len(damaged) > 0 {
		t.Fatalf("damaged %v, %v", damaged, err)
	}
	return turns
}

// What a cancelled chat could not wait for is stored behind it, within the writer's patience and after it.
func TestAWriteEndsWithItsContext(t *testing.T) {
	for name, patience := range map[string]time.Duration{"patient": busyPatience, "kept": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			store := newStore(t, Options{Dir: dir})
			store.patience = patience
			s := open(t, store, "u", "s")
			turn := newTurn("cancelled")
			must(t, s.Begin(ctx, turn))
			free := hold(t, dir, write)
			ctx = soon(t)
			<-ctx.Done()
			left(t, dir, func() error {
				return s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "a", Calls: make([]wire.TurnCall, 2)})
			})
			left(t, dir, func() error { return s.StartCall(ctx, turn.ID, 0, 1) })
			left(t, dir, func() error {
				return s.EndCall(ctx, turn.ID, 0, 1, &wire.ToolResult{Status: wire.ToolOK, Text: "result"})
			})
			left(t, dir, func() error { return s.End(ctx, turn.ID, wire.TurnCancelled, "b") })
			s.Close()
			if turns := storedTurns(t, dir, "s"); len(turns) != 1 || len(turns[0].Steps) != 0 {
				t.Errorf("stored is %+v", turns)
			}
			free()
			s = open(t, store, "u", "s") // behind them
			defer s.Close()
			turns := storedTurns(t, dir, "s")
			if len(turns) != 1 || turns[0].Status != wire.TurnCancelled || turns[0].Response != "b" || len(turns[0].Steps) != 1 {
				t.Fatalf("stored is %+v", turns)
			}
			if call := turns[0].Steps[0].Calls[1]; !call.Started || call.Result == nil || call.Result.Text != "result" {
				t.Errorf("stored is %+v", call)
			}
		})
	}
}

// The writes of a chat that goes on store what was left before, once.
func TestAChatGoesOnBehindWhatItLeft(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	turn := newTurn("goes on")
	must(t, s.Begin(ctx, turn))
	free := hold(t, dir, write)
	left(t, dir, func() error {
		return s.SaveStep(soon(t), turn.ID, &wire.TurnStep{Text: "a", Calls: make([]wire.TurnCall, 1)})
	})
	free()
	must(t, s.StartCall(ctx, turn.ID, 0, 0))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Number: 1, Text: "b"}))
	must(t, s.End(ctx, turn.ID, wire.TurnDone, "b"))
	turns := storedTurns(t, dir, "s")
	if len(turns) != 1 || turns[0].ID != turn.ID || len(turns[0].Steps) != 2 || !turns[0].Steps[0].Calls[0].Started || turns[0].Status != wire.TurnDone {
		t.Errorf("stored is %+v", turns)
	}
}

func TestABeginningIsTakenBack(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "s")
	free := hold(t, dir, write)
	turn := newTurn("never began")
	if err := s.Begin(soon(t), turn); !errors.Is(err, context.DeadlineExceeded) || turn.ID != 0 {
		t.Errorf("got %v, turn %d", err, turn.ID)
	}
	free()
	say(t, s, "began", "yes")
	s.Close()
	must(t, store.do(ctx, func(*base) error { return nil }))
	if got := inputs(storedTurns(t, dir, "s")); got != "began" {
		t.Errorf("stored are %q", got)
	}
}

// A chat that was cancelled while it waited for a busy file leaves no lease.
func TestOpeningEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	store := newStore(t, Options{Dir: dir})
	other := open(t, store, "u", "other") // its engine renews leases
	defer other.Close()
	free := hold(t, dir, write)
	if _, err := store.Open(soon(t), "u", "s", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	free()
	open(t, newStore(t, Options{Dir: dir}), "u", "s").Close()
}

// A file of which nothing can be read, as while SQLite recovers its log.
func TestOpeningAFileThatIsLocked(t *testing.T) {
	dir := filepath.Dir(filled(t))
	hold(t, dir, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE")
	store := New(Options{Dir: dir})
	if _, err := store.Open(soon(t), "u", "s", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := store.Close(soon(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	closeStore(t, store)
}

// The end of an engine waits no longer than a moment for the file; its leases are void with it.
func TestClosingWhileTheFileIsBusy(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := New(Options{Dir: dir})
	s := open(t, store, "u", "s")
	turn := newTurn("interrupted")
	must(t, s.Begin(ctx, turn))
	free := hold(t, dir, write)
	left(t, dir, func() error { return s.End(soon(t), turn.ID, wire.TurnCancelled, "lost") })
	s.Close()
	if err := store.Close(soon(t)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	closeStore(t, store) // without patience it would hold the file as long as we do
	free()
	s = open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	if got := last(t, s); got == nil || got.Status != wire.TurnRunning {
		t.Errorf("stored is %+v", got)
	}
}

// What a closing engine has still to store is stored when the file comes free in time.
func TestClosingStoresWhatWasLeft(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := New(Options{Dir: dir})
	s := open(t, store, "u", "s")
	turn := newTurn("cancelled")
	must(t, s.Begin(ctx, turn))
	free := hold(t, dir, write)
	left(t, dir, func() error { return s.End(soon(t), turn.ID, wire.TurnCancelled, "kept") })
	s.Close()
	free()
	closeStore(t, store)
	if turns := storedTurns(t, dir, "s"); len(turns) != 1 || turns[0].Response != "kept" {
		t.Errorf("stored is %+v", turns)
	}
}

// A lease is kept as long as jobs are that need it, and those only as far as memory goes.
func TestWhatIsKept(t *testing.T) {
	store := newStore(t, Options{})
	w := &writer{log: store.options.Logger, queues: &store.queues, options: Options{MemoryBytes: 1000}}
	for range 3 {
		w.keep(&job{stays: true, turn: newTurn(strings.Repeat("x", 400))})
	}
	if len(w.kept) != 2 || w.keptBytes != 800 {
		t.Errorf("%d jobs are kept, %d bytes", len(w.kept), w.keptBytes)
	}
	must(t, store.do(context.Background(), func(b *base) error {
		w.engine.id = "w"
		must(t, w.engine.takeLease(b.connection, key{"u", "s"}, 1, time.Now()))
		must(t, w.renewal()(b.connection))
		_, kept, _ := readLease(b.connection, key{"u", "s"})
		w.kept = nil
		must(t, w.renewal()(b.connection))
		if _, still, err := readLease(b.connection, key{"u", "s"}); !kept || still || err != nil {
			t.Errorf("kept: %v, and still: %v, %v", kept, still, err)
		}
		return nil
	}))
}

// Kept jobs are tried again though nothing else comes.
func TestKeptJobsAreTriedAgain(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := newStore(t, Options{Dir: dir})
	store.patience = time.Millisecond
	s := open(t, store, "u", "s")
	turn := newTurn("x")
	must(t, s.Begin(ctx, turn))
	free := hold(t, dir, write)
	left(t, dir, func() error { return s.End(soon(t), turn.ID, wire.TurnDone, "kept") })
	s.Close()
	free()
	testkit.Until(t, "the turn is stored", func() bool { return storedTurns(t, dir, "s")[0].Status == wire.TurnDone })
}
