//go:build unix

package main

import (
	"context"
	"database/sql"
	"os"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// connection is one to the file of sessions beside the engines', open until the test ends.
func (s *shared) connection() *sql.Conn {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.database()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// runSQL runs statements on a connection.
func runSQL(t *testing.T, conn *sql.Conn, statements string) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}

// A row that was changed between two chats costs its turn; the chat that meets it tells so, and no other.
func TestTamperedRow(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	answered(t, e, "a", "n=1")
	answered(t, e, "b", "n=2")
	runSQL(t, s.connection(), "UPDATE turns SET response = 'tampered' WHERE id = 1")
	say(e, "other", "u", "other", "n=1")
	if warnings := e.Result("other").Get("warnings").Array(); len(warnings) > 0 {
		t.Errorf("another session was told %s", warnings)
	}
	warnings := answered(t, e, "c", "n=3")
	wantTold(t, warnings, "turn 1 ", "is damaged", "table damaged")
	if len(warnings) != 1 {
		t.Errorf("told is %q", warnings)
	}
	if warnings := answered(t, e, "d", "n=4"); len(warnings) > 0 {
		t.Errorf("it is told again: %q", warnings)
	}
	if turns := s.turns("u", "s"); len(turns) != 3 || turns[0].Get("input").Str != "n=2" {
		t.Errorf("stored are %s", turns)
	}
	wantEnd(t, e, nil)
}

// A file that is moved away in the middle of a turn: the chat tells so, and the whole turn is in a new one.
func TestMovedInMidTurn(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "requires_approval: true")
	e := ready(t, s.start(host.Options{}))
	askForApprovals(e)
	say(e, "c", "u", "s", noteCall)
	e.Event("c", "tool_approval")
	for _, companion := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(s.database()+companion, s.database()+".away"+companion); err != nil {
			t.Fatal(err)
		}
	}
	answer(e, "c", "once")
	wantWarnings(t, e.Result("c"), "was moved or removed")
	if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "done" || turns[0].Get("steps.0.calls.0.result.status").Str != "ok" {
		t.Errorf("stored are %s", turns)
	}
	say(e, "d", "u", "t", "n=1")
	wantWarnings(t, e.Result("d"))
	wantEnd(t, e, tools)
}

// A file that another holds delays neither the end of a cancelled turn nor that of the engine; the turn is
// stored when the file is free.
func TestCancelWhileTheFileIsHeld(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "requires_approval: true")
	e := ready(t, s.start(host.Options{}))
	askForApprovals(e)
	say(e, "c", "u", "s", noteCall)
	e.Event("c", "tool_approval")
	other := s.connection()
	runSQL(t, other, "BEGIN IMMEDIATE")
	e.Call("x", "cancel", map[string]any{"request_id": "c"})
	e.Error("c", "cancelled")
	runSQL(t, other, "ROLLBACK")
	testkit.Until(t, "the turn is stored as cancelled", func() bool {
		turns := s.turns("u", "s")
		return len(turns) == 1 && turns[0].Get("status").Str == "cancelled"
	})
	say(e, "d", "u", "s", noteCall)
	e.Event("d", "tool_approval")
	runSQL(t, other, "BEGIN IMMEDIATE")
	e.Send("s", "shutdown", nil)
	e.Error("d", "cancelled")
	wantExit(t, e, 0)
	tools.wantGone()
}
