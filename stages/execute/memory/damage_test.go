package memory

import (
	"bytes"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noise are random bytes that are the same each time.
func noise(n int) []byte {
	random := rand.New(rand.NewPCG(3, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// overwrite replaces n bytes of a file by others.
func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// builtFiles are those of a folder whose index is built and closed.
var builtFiles map[string][]byte

// built returns a folder whose index is built and closed, and the turn that "needle" finds. It is built
// once, and copied.
func built(t *testing.T) (s *sessions, needle int64) {
	t.Helper()
	if builtFiles == nil {
		builtFiles = build(t)
	}
	dir := t.TempDir()
	for name, text := range builtFiles {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return openSessions(t, dir), builtTurns + 1
}

// builtTurns is how many turns the folder of built holds before the needle.
const builtTurns = 200

func build(t *testing.T) map[string][]byte {
	t.Helper()
	s := newSessions(t, t.TempDir())
	s.many(builtTurns, `'hay ' || hex(randomblob(8))`, `'`+strings.Repeat("straw hay ", 50)+`'`)
	needle := s.turn("ada", "one", "a needle", "")
	x := open(t, Options{Dir: s.dir})
	wantTurns(t, []int64{needle}, builtTurns+1)
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	closeIndex(t, x)
	s.db.Close()
	files := map[string][]byte{}
	for _, name := range []string{"sessions.db", "memory.db"} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	return files
}

func TestADamagedIndexIsBuiltAnew(t *testing.T) {
	execute := func(query string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", dsn(path))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(query); err != nil {
				t.Fatal(err)
			}
		}
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		aside  int
	}{
		"zeroed": {func(t *testing.T, path string) { overwrite(t, path, 0, make([]byte, size(path))) }, 1},
		"random": {func(t *testing.T, path string) { overwrite(t, path, 0, noise(int(size(path)))) }, 1},
		"random after the header": {func(t *testing.T, path string) {
			overwrite(t, path, 100, noise(int(size(path))-100))
		}, 1},
		"random after the first page": {func(t *testing.T, path string) {
			overwrite(t, path, 4096, noise(int(size(path))-4096))
		}, 1},
		"cut to a page":    {func(t *testing.T, path string) { os.Truncate(path, 4096) }, 1},
		"cut to half":      {func(t *testing.T, path string) { os.Truncate(path, size(path)/2) }, 1},
		"cut in a page":    {func(t *testing.T, path string) { os.Truncate(path, 5000) }, 1},
		"cut in a header":  {func(t *testing.T, path string) { os.Truncate(path, 50) }, 1},
		"empty":            {func(t *testing.T, path string) { os.Truncate(path, 0) }, 0},
		"text":             {func(t *testing.T, path string) { os.WriteFile(path, []byte("not a database at all\n"), 0o600) }, 1},
		"other version":    {execute(`PRAGMA user_version = 99`), 1},
		"other program's":  {execute(`DROP TABLE meta; CREATE TABLE mine (a); PRAGMA user_version = 0`), 1},
		"without a table":  {execute(`DROP TABLE docs`), 1},
		"without the meta": {execute(`DROP TABLE meta`), 1},
		"a folder": {func(t *testing.T, path string) {
			os.Remove(path)
			os.Mkdir(path, 0o700)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, needle := built(t)
			c.damage(t, filepath.Join(s.dir, "memory.db"))
			x := open(t, Options{Dir: s.dir})
			wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
			later := s.turn("ada", "one", "needle and thread", "needle needle needle")
			if got := find(t, x, "ada", "two", "thread"); len(got) != 1 || got[0] != later {
				t.Errorf("later found %v; want %d", got, later)
			}
			if got := damagedFiles(t, s.dir); len(got) < c.aside || len(got) > 1 {
				t.Errorf("set aside: %q; want %d", got, c.aside)
			}
		})
	}
}

// TestDamageWhileOpen: another program overwrites the file under an index, which has none of it in
// its cache.
func TestDamageWhileOpen(t *testing.T) {
	s, needle := built(t)
	x := open(t, Options{Dir: s.dir})
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	x.store.read.SetMaxIdleConns(0)
	if _, err := x.store.write.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(x.path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, x.path, 4096, noise(int(info.Size())-4096))
	find(t, x, "ada", "two", "hay")
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
}

// TestOnlyTheLastIsKept: damage that comes again doesn't fill the disk, nor is it mended for ever.
func TestOnlyTheLastIsKept(t *testing.T) {
	s, needle := built(t)
	path := filepath.Join(s.dir, "memory.db")
	for range 3 {
		overwrite(t, path, 0, noise(4096))
		x := open(t, Options{Dir: s.dir})
		wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
		closeIndex(t, x)
		if got := damagedFiles(t, s.dir); len(got) != 1 {
			t.Errorf("set aside: %q", got)
		}
	}
	x := open(t, Options{Dir: s.dir})
	for range 2 * asidesLimit {
		os.WriteFile(path+".new", []byte("somebody else's file"), 0o600)
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		os.Remove(path + "-wal") // holds all of the index; SQLite would mend the file with it
		wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	}
	if !x.store.memory {
		t.Error("the file is still being set aside")
	}
}

func TestTwoIndexesSurviveOneBeingSetAside(t *testing.T) {
	s, needle := built(t)
	one, other := open(t, Options{Dir: s.dir}), open(t, Options{Dir: s.dir})
	for range 2 {
		wantTurns(t, find(t, one, "ada", "two", "needle"), needle)
		wantTurns(t, find(t, other, "ada", "two", "needle"), needle)
		if err := setAside(one.path, time.Now().Format("150405.000000")); err != nil {
			t.Fatal(err)
		}
	}
	later := s.turn("ada", "one", "thread", "")
	wantTurns(t, find(t, other, "ada", "two", "thread"), later)
	wantTurns(t, find(t, one, "ada", "two", "thread"), later)
	if one.asides+other.asides > 0 {
		t.Error("an index that was fine was set aside")
	}
}

// TestNoFileToWrite: where there can't be an index file, there is one in memory.
func TestNoFileToWrite(t *testing.T) {
	s, needle := built(t)
	var log bytes.Buffer
	x := open(t, Options{Dir: s.dir, Logger: textLogger(&log)})
	x.path = "/dev/null/memory.db"
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	later := s.turn("ada", "one", "thread", "")
	wantTurns(t, find(t, x, "ada", "two", "thread"), later)
	closeIndex(t, x)
	if text := log.String(); strings.Count(text, "writable") != 1 {
		t.Errorf("the log says %s", text)
	}
}
