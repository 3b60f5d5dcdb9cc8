package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// limited makes the file of a store no larger than it is, as on a full disk, and unlimited again.
func limited(t *testing.T, s *Store, limit bool) {
	t.Helper()
	pages := "1073741823"
	if limit {
		pages = "1" // SQLite takes the present size then
	}
	must(t, s.do(context.Background(), func(b *base) error { return b.script("PRAGMA max_page_count=" + pages) }))
}

// filler fills the disk of a folder and returns what makes room again.
func filler(t *testing.T, dir string) (room func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	file, err := os.Create(name)
	must(t, err)
	for size := 1 << 16; size > 0; size /= 2 {
		for err == nil {
			_, err = file.Write(make([]byte, size))
		}
		err = nil
	}
	must(t, file.Close())
	return func() { must(t, os.Remove(name)) }
}

// A turn that could not be stored while the disk was full is stored whole once there is room.
func TestAFullDisk(t *testing.T) {
	big := strings.Repeat("x", 200_000)
	ways := map[string]func(t *testing.T) (s *Store, fill func() (room func())){
		"limit": func(t *testing.T) (*Store, func() func()) {
			s := newStore(t, Options{Dir: t.TempDir()})
			return s, func() func() {
				limited(t, s, true)
				return func() { limited(t, s, false) }
			}
		},
	}
	if dir, ok := smallDisk(t); ok { // a real one, where we may
		ways["disk"] = func(t *testing.T) (*Store, func() func()) {
			return newStore(t, Options{Dir: dir}), func() func() { return filler(t, dir) }
		}
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			store, fill := way(t)
			s := open(t, store, "u", "s")
			defer s.Close()
			say(t, s, "before", "yes")
			turn := newTurn("while it filled")
			must(t, s.Begin(ctx, turn))
			room := fill()
			err := s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: big, Calls: make([]wire.TurnCall, 1)})
			if err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "free some space") {
				t.Fatalf("got %v", err)
			}
			if err := s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: "result"}); err == nil {
				t.Error("stored on a full disk")
			}
			lost := newTurn("when it was full" + big)
			if err := s.Begin(ctx, lost); err == nil || lost.ID != 0 {
				t.Errorf("stored on a full disk: %v", err)
			}
			if err := s.SaveStep(ctx, lost.ID, &wire.TurnStep{Text: "step"}); err == nil {
				t.Error("stored on a full disk")
			}
			open(t, store, "u", "other").Close() // nobody hangs
			room()
			must(t, s.End(ctx, lost.ID, wire.TurnDone, "done"))
			got := history(t, s)
			if len(got) != 3 || got[0].Response != "done" || got[0].Input != lost.Input || len(got[0].Steps) != 1 || got[2].Input != "before" {
				t.Errorf("got %d turns", len(got))
			}
			noWarnings(t, s) // the errors told it
		})
	}
}

func TestAFullDiskAtTheBeginning(t *testing.T) {
	dir, ok := smallDisk(t)
	if !ok { // a folder that takes no file at all
		dir = filepath.Join(os.DevNull, "data")
	} else {
		defer filler(t, dir)()
	}
	store := newStore(t, Options{Dir: dir})
	for range 2 {
		s := open(t, store, "u", "s")
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "in memory") || !strings.Contains(w[0], dir) {
			t.Errorf("warnings %q", w)
		}
		say(t, s, "hi", "ho")
		if len(history(t, s)) == 0 {
			t.Error("nothing is kept")
		}
		s.Close()
	}
	if left := named(dir, fileName); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestFoldersThatCantBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	folder := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(folder, fileName), 0o700))
	for name, dir := range map[string]string{
		"none": "", "a file": file, "below a file": filepath.Join(file, "data"), "a folder in the file's place": folder,
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, Options{Dir: dir})
			s := open(t, store, "u", "s")
			say(t, s, "hi", "ho")
			if name == "a folder in the file's place" { // set aside like any other damage
				if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], damagedName) {
					t.Errorf("warnings %q", w)
				}
			} else if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "in memory") || !strings.Contains(w[0], "app.data_dir") || !strings.Contains(w[0], dir) {
				t.Errorf("warnings %q", w)
			}
			s.Close()
			s = open(t, store, "u", "s")
			defer s.Close()
			if got := inputs(history(t, s)); got != "hi" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTheFolderIsForTheUserAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.Chmod(dir, 0o755))
	s := open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	say(t, s, "hi", "ho")
	must(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		must(t, err)
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	}))
}

// In memory the oldest turns are forgotten, and one that is too large is refused.
func TestMemoryIsBounded(t *testing.T) {
	ctx := context.Background()
	store := newStore(t, Options{MemoryBytes: 4 << 20})
	s := open(t, store, "u", "s")
	defer s.Close()
	text := strings.Repeat("x", 100_000)
	for i := range 100 {
		say(t, s, fmt.Sprint(i), text)
	}
	got := history(t, s)
	if len(got) < 10 || len(got) > 25 || got[0].Input != "99" {
		t.Errorf("%d turns are kept", len(got))
	}
	turn := newTurn("huge")
	must(t, s.Begin(ctx, turn))
	if err := s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: strings.Repeat(text, 200)}); err == nil || strings.Contains(err.Error(), "disk") {
		t.Errorf("got %v", err)
	}
}

func TestALargeResultIsKeptWhole(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	turn := newTurn("large")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Calls: make([]wire.TurnCall, 1)}))
	text := strings.Repeat("0123456789abcdef", 50<<20/16)
	must(t, s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: text}))
	if got := last(t, s); got.Steps[0].Calls[0].Result.Text != text {
		t.Error("the result is not what it was")
	}
	if info, err := os.Stat(filepath.Join(dir, fileName+"-wal")); err != nil || info.Size() > 128<<20 {
		t.Errorf("the log has %d bytes, %v", info.Size(), err)
	}
}
