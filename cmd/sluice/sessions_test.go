package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/session"
)

// storedSessions makes a data folder with the sessions "a" and "b" of the default user and "a" of
// another, and has the commands of this test look at it. The store is open until the test ends.
func storedSessions(t *testing.T) *session.Store {
	t.Helper()
	t.Setenv("SLUICE_APP_DATA_DIR", t.TempDir())
	store := session.New(session.Options{Dir: os.Getenv("SLUICE_APP_DATA_DIR")})
	t.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for i, names := range [][2]string{{defaultUser, "a"}, {defaultUser, "b\x1b[2J"}, {"other", "a"}} {
		storeTurn(t, store, names[0], names[1], []string{"first\nwords \x1b[31mred", "of b", "a secret of another"}[i])
	}
	return store
}

func storeTurn(t *testing.T, store *session.Store, user, name, input string) {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, user, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn := &wire.Turn{Agent: "assistant", Input: input, Started: time.Now()}
	step := &wire.TurnStep{Text: "let me see", Calls: []wire.TurnCall{
		{Tool: "fs/read", ToolCall: wire.ToolCall{Arguments: `{"path":"x"}`}}, {Tool: "fs/stat"}, {Tool: "fs/list"},
	}}
	result := &wire.ToolResult{Status: wire.ToolOK, Text: "the file's\ntext", Took: 12 * time.Millisecond}
	for _, err := range []error{
		s.Begin(ctx, turn), s.SaveStep(ctx, turn.ID, step),
		s.StartCall(ctx, turn.ID, 0, 0), s.StartCall(ctx, turn.ID, 0, 1), s.EndCall(ctx, turn.ID, 0, 0, result),
		s.End(ctx, turn.ID, wire.TurnDone, "an \x1b]0;title\aanswer"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionsAreListed(t *testing.T) {
	storedSessions(t)
	status, stdout, stderr := command(t, "", "sessions", "list")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if status != exitDone || stderr != "" || len(lines) != 3 || strings.ContainsRune(stdout, '\x1b') {
		t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if !strings.Contains(stdout, "first words red") || !strings.Contains(stdout, "of b") || strings.Contains(stdout, "secret") {
		t.Errorf("got %q", stdout)
	}
	_, stdout, _ = command(t, "", "sessions", "list", "--json", "--user", "other")
	var list []map[string]any
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) != 1 || list[0]["session"] != "a" || list[0]["turns"] != 1.0 || list[0]["first"] != "a secret of another" {
		t.Errorf("got %q, %v", stdout, err)
	}
}

func TestASessionIsShown(t *testing.T) {
	storedSessions(t)
	status, stdout, stderr := command(t, "", "sessions", "show", "a")
	if status != exitDone || stderr != "" || strings.ContainsRune(stdout, '\x1b') || strings.Contains(stdout, "secret") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	for _, part := range []string{
		"assistant  done\n", "> first\n> words red\n", "let me see\n", `fs/read {"path":"x"}: ok, 12 ms, the file's text` + "\n",
		"fs/stat : begun, outcome unknown\n", "fs/list : not begun\n", "\nan answer\n",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("%q isn't in %q", part, stdout)
		}
	}
	_, stdout, _ = command(t, "", "sessions", "show", "a", "--json")
	var shown struct {
		Turns []struct {
			Input, Response string
			Steps           []struct {
				Calls []struct{ Result *struct{ Text string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil || len(shown.Turns) != 1 {
		t.Fatalf("got %q, %v", stdout, err)
	}
	turn := shown.Turns[0]
	if turn.Input != "first\nwords \x1b[31mred" || turn.Response != "an \x1b]0;title\aanswer" || turn.Steps[0].Calls[0].Result.Text != "the file's\ntext" || turn.Steps[0].Calls[1].Result != nil {
		t.Errorf("got %+v", turn)
	}
}

func TestSessionsAreDeleted(t *testing.T) {
	store := storedSessions(t)
	dir := os.Getenv("SLUICE_APP_DATA_DIR")
	busy, err := store.Open(context.Background(), defaultUser, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"delete", "a"}, {"delete", "--all"}} {
		status, _, stderr := command(t, "", append([]string{"sessions"}, args...)...)
		if status != exitFailed || !strings.Contains(stderr, "in use by a running engine") {
			t.Errorf("%q: status %d, stderr %q", args, status, stderr)
		}
	}
	busy.Close()
	_, stdout, _ := command(t, "", "sessions", "list", "--json") // b is deleted, a was in use
	if strings.Contains(stdout, `"session":"b`) || !strings.Contains(stdout, `"session":"a"`) {
		t.Errorf("got %q", stdout)
	}
	status, stdout, stderr := command(t, "", "sessions", "delete", "a", "--user", "other")
	if status != exitDone || stdout != "deleted session a of user other (1 turn)\n" || stderr != "" {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	for _, name := range []string{"sessions.db", "sessions.db-wal"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || bytes.Contains(content, []byte("secret")) {
			t.Errorf("%s still holds what was deleted, %v", name, err)
		}
	}
	if status, _, stderr = command(t, "", "sessions", "delete", "a", "--user", "other"); status != exitFailed || !strings.Contains(stderr, "no session a") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

func TestWithoutSessionsNothingIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	t.Setenv("SLUICE_APP_DATA_DIR", dir)
	for _, c := range []struct {
		args   []string
		status int
		stdout string
		said   string
	}{
		{[]string{"list"}, exitDone, "", "no sessions"},
		{[]string{"list", "--json"}, exitDone, "[]\n", ""},
		{[]string{"show", "a"}, exitFailed, "", "has no session a"},
		{[]string{"delete", "a"}, exitFailed, "", "has no session a"},
		{[]string{"delete", "--all"}, exitDone, "", "no sessions"},
		{[]string{"delete"}, exitUsage, "", "--all"},
		{[]string{"delete", "a", "--all"}, exitUsage, "", "--all"},
	} {
		status, stdout, stderr := command(t, "", append([]string{"sessions"}, c.args...)...)
		if status != c.status || stdout != c.stdout || !strings.Contains(stderr, c.said) || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%q: status %d, stdout %q, stderr %q", c.args, status, stdout, stderr)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestADamagedFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SLUICE_APP_DATA_DIR", dir)
	if err := os.WriteFile(filepath.Join(dir, "sessions.db"), bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := command(t, "", "sessions", "list")
	if status != exitFailed || stdout != "" || !strings.Contains(stderr, "is damaged") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if damaged, _ := filepath.Glob(filepath.Join(dir, "*damaged*")); len(damaged) != 0 {
		t.Errorf("set aside: %q", damaged)
	}
}
