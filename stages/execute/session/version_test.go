package session

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
