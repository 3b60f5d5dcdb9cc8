package memory

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

var _ agent.Memory = (*Index)(nil)

// sessionsSchema is the session store's, as far as the index reads it.
const sessionsSchema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE turns (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT, session_id TEXT, trace_id TEXT, agent TEXT,
	input TEXT, started INTEGER, ended INTEGER, status TEXT, response TEXT);
CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, turn_id INTEGER NOT NULL, deleted INTEGER NOT NULL);`

// sessions writes a sessions.db as its store does.
type sessions struct {
	t   testing.TB
	dir string
	db  *sql.DB
}

func newSessions(t testing.TB, dir string) *sessions {
	t.Helper()
	s := openSessions(t, dir)
	s.exec(sessionsSchema)
	s.exec(`INSERT INTO meta VALUES ('file_id', ?)`, fmt.Sprint(time.Now().UnixNano()))
	return s
}

func openSessions(t testing.TB, dir string) *sessions {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, "sessions.db"))+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return &sessions{t, dir, db}
}

func (s *sessions) exec(query string, args ...any) int64 {
	s.t.Helper()
	result, err := s.db.Exec(query, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	id, _ := result.LastInsertId()
	return id
}

// turn stores a turn that is done.
func (s *sessions) turn(user, session, input, response string) int64 {
	s.t.Helper()
	return s.turnAs(wire.TurnDone, user, session, input, response)
}

func (s *sessions) turnAs(status wire.TurnStatus, user, session, input, response string) int64 {
	s.t.Helper()
	id := s.exec(`INSERT INTO turns (user_id, session_id, input, response, status, started, ended) VALUES (?, ?, ?, ?, ?, 1700000000123, 1700000001000)`,
		user, session, input, response, status)
	s.exec(`INSERT INTO journal (turn_id, deleted) VALUES (?, 0)`, id)
	return id
}

// many stores n turns of ada's session one at once; the texts are SQL, in which i counts.
func (s *sessions) many(n int, input, response string) {
	s.t.Helper()
	s.exec(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?)
		INSERT INTO turns (user_id, session_id, input, response, status, started)
		SELECT 'ada', 'one', `+input+`, `+response+`, 'done', 1700000000123 + i FROM c`, n)
	s.exec(`INSERT INTO journal (turn_id, deleted) SELECT id, 0 FROM turns
		WHERE id > (SELECT coalesce(max(turn_id), 0) FROM journal) ORDER BY id`)
}

func (s *sessions) delete(turn int64) {
	s.t.Helper()
	s.exec(`DELETE FROM turns WHERE id = ?`, turn)
	s.exec(`INSERT INTO journal (turn_id, deleted) VALUES (?, 1)`, turn)
}

// open returns an index over a folder, closed with the test.
func open(t testing.TB, options Options) *Index {
	t.Helper()
	if options.BuildWait == 0 {
		options.BuildWait = time.Minute
	}
	x := New(options)
	t.Cleanup(func() { closeIndex(t, x) })
	return x
}

func closeIndex(t testing.TB, x *Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := x.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// find returns the turns that a Retrieve brings.
func find(t testing.TB, x *Index, user, session, text string) []int64 {
	t.Helper()
	snippets, err := x.Retrieve(context.Background(), user, session, text)
	if err != nil {
		t.Fatalf("retrieve: %v", err)
	}
	turns := []int64{}
	for _, s := range snippets {
		turns = append(turns, s.Turn)
	}
	return turns
}

func wantTurns(t testing.TB, got []int64, want ...int64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("found turns %v; want %v", got, want)
	}
}

// damagedFiles are the files that were set aside.
func damagedFiles(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if ok, _ := filepath.Match("memory.db.damaged-*[0-9]", e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names
}
