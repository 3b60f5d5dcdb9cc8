package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// tampered changes a stored response behind the back of an engine.
func tampered(t *testing.T, dir string, turn int64) {
	t.Helper()
	c, err := connect(filepath.Join(dir, fileName))
	must(t, err)
	defer c.close()
	_, err = c.exec("UPDATE turns SET response = 'tampered' WHERE id = ?", turn)
	must(t, err)
}

// wantWarnings checks that a session has these warnings and no more.
func wantWarnings(t *testing.T, s *Session, parts ...string) {
	t.Helper()
	w := s.Warnings()
	if len(w) != len(parts) {
		t.Fatalf("warnings %q", w)
	}
	for i, part := range parts {
		if !strings.Contains(w[i], part) {
			t.Errorf("warnings %q", w)
		}
	}
}

// wantWarning checks that a session has one warning, each time it is asked.
func wantWarning(t *testing.T, s *Session, parts ...string) {
	t.Helper()
	for range 2 {
		w := s.Warnings()
		if len(w) != 1 {
			t.Fatalf("warnings %q", w)
		}
		for _, part := range parts {
			if !strings.Contains(w[0], part) {
				t.Errorf("warnings %q", w)
			}
		}
	}
}

// A damaged turn is met in the middle of another one, by History or by Last; other sessions aren't told.
func TestDamageThatATurnMeets(t *testing.T) {
	ctx := context.Background()
	for name, read := range map[string]func(s *Session, running int64) error{
		"History": func(s *Session, running int64) error {
			_, err := s.History(ctx, running, 1000, 10)
			return err
		},
		"Last": func(s *Session, _ int64) error {
			_, err := s.Last(ctx, 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := newStore(t, Options{Dir: dir})
			s, other := open(t, store, "u", "s"), open(t, store, "u", "other")
			defer s.Close()
			defer other.Close()
			id := say(t, s, "old", "true")
			running := newTurn("new")
			if name == "History" {
				must(t, s.Begin(ctx, running))
			}
			noWarnings(t, s)
			tampered(t, dir, id)
			must(t, read(s, running.ID))
			wantWarning(t, s, "turn 1 ", "is damaged", "table damaged")
			must(t, read(s, running.ID))
			if name == "Last" {
				must(t, s.Begin(ctx, running))
			}
			must(t, s.End(ctx, running.ID, wire.TurnDone, "yes"))
			wantWarning(t, s, "turn 1 ")
			noWarnings(t, other)
			later := open(t, store, "v", "s")
			defer later.Close()
			noWarnings(t, later)
		})
	}
}

// A turn that can't be moved away is met again and told once.
func TestDamageThatCantBeSetAside(t *testing.T) {
	dir := t.TempDir()
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "s")
	defer s.Close()
	id := say(t, s, "old", "true")
	tampered(t, dir, id)
	hold(t, dir, write)
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // enough to read, not to write
		defer cancel()
		if turns, err := s.History(ctx, 0, 1000, 10); err != nil || len(turns) != 0 {
			t.Errorf("got %+v, %v", turns, err)
		}
	}
	wantWarning(t, s, "turn 1 ", "could not be set aside")
}

// A file that is moved away in the middle of turns is told to the sessions that have one, once, and so is
// a log that was left behind.
func TestAFileThatIsMovedInMidTurn(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		moved []string
		told  []string
	}{
		"all":             {companions, []string{"moved or removed"}},
		"without its log": {[]string{""}, []string{"moved or removed", "left behind"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, fileName)
			store := newStore(t, Options{Dir: dir})
			sessions, turns := []*Session{open(t, store, "u", "a"), open(t, store, "u", "b")}, []*wire.Turn{newTurn("a"), newTurn("b")}
			for i, s := range sessions {
				must(t, s.Begin(ctx, turns[i]))
			}
			for _, companion := range c.moved {
				must(t, os.Rename(path+companion, filepath.Join(dir, "away.db"+companion)))
			}
			for i, s := range sessions {
				must(t, s.SaveStep(ctx, turns[i].ID, &wire.TurnStep{Text: "step"}))
				must(t, s.End(ctx, turns[i].ID, wire.TurnDone, "yes"))
				wantWarnings(t, s, c.told...)
				if got := storedTurns(t, dir, s.session); len(got) != 1 || len(got[0].Steps) != 1 || got[0].Status != wire.TurnDone {
					t.Errorf("stored is %+v", got)
				}
				s.Close()
			}
			later := open(t, store, "u", "a")
			defer later.Close()
			noWarnings(t, later)
		})
	}
}

// What is left of a file that is gone is not called a damaged file.
func TestALogWithoutItsFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, fileName+"-wal"), []byte("left"), 0o600))
	s := open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	files := aside(dir)
	if len(files) != 1 {
		t.Fatalf("set aside %q", files)
	}
	wantWarning(t, s, "left behind", files[0])
}
