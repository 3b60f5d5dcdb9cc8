package session

import (
	"bytes"
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// filled makes a folder with turns of some sessions in a closed file, and returns the file's path.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store := New(Options{Dir: dir})
	for _, name := range []string{"s", "t"} {
		s := open(t, store, "u", name)
		for range 20 {
			say(t, s, "question", strings.Repeat("an answer ", 500))
		}
		s.Close()
	}
	closeStore(t, store)
	return filepath.Join(dir, fileName)
}

// change rewrites a file's bytes.
func change(t *testing.T, name string, with func(content []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, with(content), 0o600))
}

func fillWith(content []byte, from, to int, value func() byte) []byte {
	for i := from; i < to; i++ {
		content[i] = value()
	}
	return content
}

func zero() byte { return 0 }

// damages are what is done to a file that was closed.
var damages = map[string]func(content []byte) []byte{
	"no database":  func([]byte) []byte { return []byte("this is a text that somebody put here\n") },
	"random bytes": func(c []byte) []byte { return fillWith(c, 0, len(c), random()) },
	"zero length":  func([]byte) []byte { return nil },
	"truncated":    func(c []byte) []byte { return c[:len(c)/2] },
	"cut in page":  func(c []byte) []byte { return c[:5000] },
	"header only":  func(c []byte) []byte { return c[:100] },
	"zeroed head":  func(c []byte) []byte { return fillWith(c, 0, pageSize, zero) },
	"zeroed pages": func(c []byte) []byte { return fillWith(c, pageSize, len(c), zero) },
	"random pages": func(c []byte) []byte { return fillWith(c, pageSize, len(c), random()) },
}

func random() func() byte {
	source := rand.NewChaCha8([32]byte{1})
	return func() byte { return byte(source.Uint64()) }
}

// aside returns the files that were set aside, but for their companions.
func aside(dir string) (files []string) {
	for _, name := range named(dir, damagedName) {
		if !strings.HasSuffix(name, "-shm") {
			files = append(files, name)
		}
	}
	return files
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			change(t, path, damage)
			found, err := os.ReadFile(path)
			must(t, err)
			store := newStore(t, Options{Dir: filepath.Dir(path)})
			s := open(t, store, "u", "s")
			if got := history(t, s); len(got) != 0 {
				t.Errorf("%d turns of a damaged file", len(got))
			}
			say(t, s, "goes on", "yes")
			files := aside(filepath.Dir(path))
			if len(files) != 1 {
				t.Fatalf("set aside: %q", files)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], files[0]) || !strings.Contains(w[0], path) {
				t.Errorf("warnings %q", w)
			}
			if kept, err := os.ReadFile(files[0]); err != nil || len(kept) != len(found) || name != "zeroed pages" && !bytes.Equal(kept, found) {
				t.Errorf("what was set aside is not what there was: %d bytes, %v", len(kept), err)
			}
			s.Close()
			s = open(t, store, "u", "s")
			defer s.Close()
			noWarnings(t, s) // told once
			if got := inputs(history(t, s)); got != "goes on" {
				t.Errorf("got %q", got)
			}
		})
	}
}

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
	if w := s.Warnings(); len(w) == 0 || !strings.Contains(w[0], "removed") {
		t.Errorf("warnings %q", w)
	}
	if got := inputs(history(t, s)); got != "kept" {
		t.Errorf("got %q", got)
	}
}

func TestADamagedLogIsSetAside(t *testing.T) {
	for name, garbage := range map[string]string{"short": "xx", "long": strings.Repeat("garbage ", 1000)} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			must(t, os.WriteFile(path+"-wal", []byte(garbage), 0o600))
			s := open(t, newStore(t, Options{Dir: filepath.Dir(path)}), "u", "s")
			defer s.Close()
			if got := history(t, s); len(got) != 20 {
				t.Errorf("%d turns", len(got))
			}
			files := aside(filepath.Dir(path))
			if w := s.Warnings(); len(files) != 1 || len(w) != 1 || !strings.Contains(w[0], files[0]) {
				t.Fatalf("set aside %q, warnings %q", files, w)
			}
			if kept, err := os.ReadFile(files[0]); err != nil || string(kept) != garbage {
				t.Errorf("got %d bytes, %v", len(kept), err)
			}
		})
	}
}

// With another engine at work the log can't be taken from under it: all is set aside, and both go on.
func TestADamagedLogOfAFileInUse(t *testing.T) {
	dir := t.TempDir()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	inA := open(t, a, "u", "a")
	say(t, inA, "lost", "with the file")
	must(t, os.Rename(filepath.Join(dir, fileName+"-wal"), filepath.Join(dir, "away")))
	must(t, os.WriteFile(filepath.Join(dir, fileName+"-wal"), []byte("garbage"), 0o600))
	inB := open(t, b, "u", "b")
	say(t, inB, "b", "yes")
	say(t, inA, "a", "yes")
	for _, s := range []*Session{inA, inB} {
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], damagedName) {
			t.Errorf("warnings %q", w)
		}
		if got := inputs(history(t, s)); got != s.session {
			t.Errorf("got %q", got)
		}
		s.Close()
	}
}

// spoilt are changes to rows that a disk, or a person, may have made.
var spoilt = map[string]string{
	"status":           "UPDATE turns SET status = 'sideways' WHERE id = 2",
	"response cut":     "UPDATE turns SET response = substr(response, 1, 3) WHERE id = 2",
	"input changed":    "UPDATE turns SET input = 'something else' WHERE id = 2",
	"input a blob":     "UPDATE turns SET input = CAST(input AS BLOB) WHERE id = 2",
	"time a text":      "UPDATE turns SET started = 'yesterday' WHERE id = 2",
	"step cut":         "UPDATE steps SET text = '' WHERE turn_id = 2",
	"step's calls":     "UPDATE steps SET calls = 1000000000000 WHERE turn_id = 2",
	"step gone":        "DELETE FROM steps WHERE turn_id = 2",
	"call changed":     "UPDATE calls SET arguments = '{' WHERE turn_id = 2",
	"call gone":        "DELETE FROM calls WHERE turn_id = 2",
	"call started":     "UPDATE calls SET started = 7 WHERE turn_id = 2",
	"result cut":       "UPDATE results SET text = substr(text, 2) WHERE turn_id = 2",
	"result a number":  "UPDATE results SET took = 'long' WHERE turn_id = 2",
	"result elsewhere": "UPDATE results SET idx = 9 WHERE turn_id = 2",
}

func TestADamagedRowIsSetAside(t *testing.T) {
	ctx := context.Background()
	for name, damage := range spoilt {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, Options{Dir: t.TempDir()})
			s := open(t, store, "u", "s")
			defer s.Close()
			for _, input := range []string{"1", "2", "3"} {
				turn := newTurn(input)
				must(t, s.Begin(ctx, turn))
				must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "text", Calls: []wire.TurnCall{{Tool: "a/b"}}}))
				must(t, s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: "result"}))
				must(t, s.End(ctx, turn.ID, wire.TurnDone, "response"))
			}
			must(t, store.do(ctx, func(b *base) error { return b.script(damage) }))
			if got := inputs(history(t, s)); got != "3 1" {
				t.Errorf("got %q", got)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "turn 2 ") || !strings.Contains(w[0], "table damaged") {
				t.Errorf("warnings %q", w)
			}
			must(t, store.do(ctx, func(b *base) error {
				rows, err := b.number("SELECT count(*) FROM damaged WHERE source = 'turns' AND c1 = 2 AND c2 = 'u'")
				forgotten, _ := b.number("SELECT count(*) FROM journal WHERE turn_id = 2 AND deleted = 1")
				left, _ := b.number("SELECT (SELECT count(*) FROM turns WHERE id = 2) + (SELECT count(*) FROM results WHERE turn_id = 2)")
				if rows != 1 || forgotten != 1 || left != 0 {
					t.Errorf("%d rows set aside, %d journalled, %d left", rows, forgotten, left)
				}
				return err
			}))
			say(t, s, "4", "yes")
			if got := inputs(history(t, s)); got != "4 3 1" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestADamagedLastTurnIsPassedOver(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	s := open(t, store, "u", "s")
	defer s.Close()
	say(t, s, "1", "1")
	say(t, s, "2", "2")
	must(t, store.do(context.Background(), func(b *base) error {
		_, err := b.exec("UPDATE leases SET expires = 'never'")
		if err == nil {
			_, err = b.exec("UPDATE turns SET status = 'sideways' WHERE id = 2")
		}
		return err
	}))
	if got := last(t, s); got == nil || got.Input != "1" || len(s.Warnings()) != 1 {
		t.Errorf("got %+v, %q", got, s.Warnings())
	}
}

func TestAFileOfANewerVersionIsNotTouched(t *testing.T) {
	path := filled(t)
	db, err := sql.Open("sqlite", dataSource(path))
	must(t, err)
	_, err = db.Exec("PRAGMA user_version=1000")
	must(t, err)
	must(t, db.Close())
	before, err := os.ReadFile(path)
	must(t, err)
	store := newStore(t, Options{Dir: filepath.Dir(path)})
	for range 2 {
		s := open(t, store, "u", "s")
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "newer version") || !strings.Contains(w[0], "app.data_dir") {
			t.Errorf("warnings %q", w)
		}
		say(t, s, "in memory", "yes")
		s.Close()
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) || len(aside(filepath.Dir(path))) != 0 {
		t.Errorf("the file was touched, %v", err)
	}
}

func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	c, err := connect("")
	must(t, err)
	defer c.close()
	must(t, migrate(c, migrations))
	id, err := c.text("SELECT value FROM meta WHERE key = 'file_id'")
	must(t, err)
	next := append(migrations[:len(migrations):len(migrations)], "ALTER TABLE turns ADD COLUMN mood TEXT")
	if err := migrate(c, append(next, "nonsense")); err == nil {
		t.Error("nonsense passed")
	}
	for range 2 {
		must(t, migrate(c, next))
	}
	same, err := c.text("SELECT value FROM meta WHERE key = 'file_id' AND (SELECT count(mood) FROM turns) = 0")
	if version, _ := c.number("PRAGMA user_version"); err != nil || same != id || version != int64(len(next)) {
		t.Errorf("version %d, id %q and %q, %v", version, id, same, err)
	}
}
