package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSessionsThatCantBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(s *sessions)
		says   string
	}{
		"no database": {func(s *sessions) { os.WriteFile(filepath.Join(s.dir, "sessions.db"), noise(9000), 0o600) }, "not a database"},
		"no journal":  {func(s *sessions) { s.exec(`DROP TABLE journal`) }, "journal"},
		"no turns":    {func(s *sessions) { s.exec(`DROP TABLE turns`) }, "turns"},
		"no meta":     {func(s *sessions) { s.exec(`DROP TABLE meta`) }, "meta"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := built(t)
			s.turn("ada", "one", "thread", "")
			if name == "no database" {
				s.db.Close()
			}
			c.damage(s)
			x := open(t, Options{Dir: s.dir})
			got, err := x.Retrieve(context.Background(), "ada", "two", "thread")
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "sessions.db") || len(got) > 0 {
				t.Errorf("got %v, %v; want an error that says %q", got, err, c.says)
			}
			if names := damagedFiles(t, s.dir); len(names) > 0 {
				t.Errorf("the index was set aside for it: %q", names)
			}
		})
	}
}

// TestAnEmptySessionsFile is one that its store is just making.
func TestAnEmptySessionsFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sessions.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, Options{Dir: dir})
	wantTurns(t, find(t, x, "ada", "one", "pipes"))
	turn := newSessions(t, dir).turn("ada", "one", "pipes", "")
	wantTurns(t, find(t, x, "ada", "two", "pipes"), turn)
}

func TestAnotherSessionsFile(t *testing.T) {
	s, needle := built(t)
	x := open(t, Options{Dir: s.dir})
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)

	s.exec(`UPDATE meta SET value = 'another' WHERE key = 'file_id'`)
	s.exec(`DELETE FROM turns`)
	s.exec(`DELETE FROM journal`)
	s.exec(`INSERT INTO turns (id, user_id, session_id, input, response, status, started) VALUES (1, 'ada', 'one', 'thread', '', 'done', 1)`)
	s.exec(`INSERT INTO journal (turn_id, deleted) VALUES (1, 0)`)
	wantTurns(t, find(t, x, "ada", "two", "thread"), 1)
	wantTurns(t, find(t, x, "ada", "two", "needle"))

	// An older copy of the same file: its journal ends before what was followed.
	s.exec(`UPDATE sqlite_sequence SET seq = 0`)
	s.exec(`DELETE FROM journal`)
	s.exec(`UPDATE turns SET input = 'wool'`)
	s.exec(`INSERT INTO journal (turn_id, deleted) VALUES (1, 0)`)
	wantTurns(t, find(t, x, "ada", "two", "wool"), 1)
	wantTurns(t, find(t, x, "ada", "two", "thread"))
}

// TestTheSessionsFileIsReplaced: its store set the old one aside.
func TestTheSessionsFileIsReplaced(t *testing.T) {
	s, needle := built(t)
	x := open(t, Options{Dir: s.dir})
	wantTurns(t, find(t, x, "ada", "two", "needle"), needle)
	s.db.Close()
	for _, ending := range []string{"", "-wal", "-shm"} {
		os.Rename(filepath.Join(s.dir, "sessions.db"+ending), filepath.Join(s.dir, "old.db"+ending))
	}
	wantTurns(t, find(t, x, "ada", "two", "needle"))
	turn := newSessions(t, s.dir).turn("ada", "one", "needle", "")
	wantTurns(t, find(t, x, "ada", "two", "needle"), turn)
}
