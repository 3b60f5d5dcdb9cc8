package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// corrupt damages the file of a store that has it open, as if the disk had.
func corrupt(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.do(context.Background(), func(*base) error { return nil }))
	path := s.file()
	var n int
	c, err := connect(path)
	must(t, err)
	must(t, c.row("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&n, new(int), new(int)))
	must(t, c.close())
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := file.Stat()
	must(t, err)
	_, err = file.WriteAt(make([]byte, info.Size()), 0)
	must(t, err)
	must(t, file.Close())
}

// The running turn goes on in the new file, whole.
func TestDamageThatIsMetLater(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "s")
	defer s.Close()
	say(t, s, "lost", "with the file")
	turn := newTurn("kept")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "a", Calls: make([]wire.TurnCall, 1)}))
	must(t, s.StartCall(ctx, turn.ID, 0, 0))
	corrupt(t, store)
	must(t, s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: "result"}))
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], damagedName) {
		t.Errorf("warnings %q", w)
	}
	must(t, s.End(ctx, turn.ID, wire.TurnDone, "kept, too"))
	got := history(t, s)
	if len(got) != 1 || got[0].Input != "kept" || got[0].Response != "kept, too" || got[0].Steps[0].Calls[0].Result.Text != "result" {
		t.Errorf("got %+v", got)
	}
	if before, err := s.History(ctx, turn.ID, 1<<20, 0); err != nil || len(before) != 0 {
		t.Errorf("before the turn: %+v, %v", before, err)
	}
}

func TestDamageThatAReaderMeets(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	s := open(t, store, "u", "s")
	defer s.Close()
	say(t, s, "lost", "with the file")
	corrupt(t, store)
	if got := last(t, s); got != nil {
		t.Errorf("got %+v", got)
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], damagedName) {
		t.Errorf("warnings %q", w)
	}
	say(t, s, "new", "one")
	if got := inputs(history(t, s)); got != "new" {
		t.Errorf("got %q", got)
	}
}

// Another engine that has the old file open notices with its next write, which is in the new file then.
func TestEnginesNoticeThatTheFileWasReplaced(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	inA, inB := open(t, a, "u", "a"), open(t, b, "u", "b")
	turn := newTurn("of b")
	must(t, inB.Begin(ctx, turn))
	corrupt(t, a)
	say(t, inA, "of a", "yes")
	must(t, inB.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "step"}))
	must(t, inB.End(ctx, turn.ID, wire.TurnDone, "yes"))
	files := aside(dir)
	if w := inB.Warnings(); len(files) == 0 || len(w) != 1 || !strings.Contains(w[0], files[0]) {
		t.Errorf("set aside %q, warnings %q", files, w)
	}
	inA.Close()
	inB.Close()
	for name, want := range map[string]string{"a": "of a", "b": "of b"} {
		s := open(t, newStore(t, Options{Dir: dir}), "u", name)
		if got := inputs(history(t, s)); got != want {
			t.Errorf("%s: got %q", name, got)
		}
		s.Close()
	}
}

func TestAFileThatWasRemovedIsNoticed(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "s")
	defer s.Close()
	turn := newTurn("kept")
	must(t, s.Begin(ctx, turn))
	must(t, os.Remove(filepath.Join(dir, fileName)))
	must(t, s.End(ctx, turn.ID, wire.TurnDone, "yes"))
	if w := s.Warnings(); len(w) != 2 || !strings.Contains(w[0], "removed") || !strings.Contains(w[1], "left behind") {
		t.Errorf("warnings %q", w)
	}
	if got := inputs(history(t, s)); got != "kept" {
		t.Errorf("got %q", got)
	}
}

// A folder that somebody cleared is made again, and this engine shows again that it lives.
func TestAClearedFolder(t *testing.T) {
	dir := t.TempDir()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	inA := open(t, a, "u", "a")
	say(t, inA, "1", "1")
	must(t, os.RemoveAll(dir))
	say(t, inA, "2", "2")
	inB := openLater(context.Background(), b, "u", "a")
	<-inB.waits
	say(t, inA, "3", "3")
	inA.Close()
	s := <-inB.opened
	defer s.Close()
	if got := inputs(history(t, s)); got != "3 2" {
		t.Errorf("got %q", got)
	}
}
