package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func TestRetrieve(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	pipes := s.turn("ada", "one", "How do pipes work?", "A pipe is a buffer in the kernel.")
	s.turn("bob", "one", "Pipes of an organ", "They sound.")
	own := s.turn("ada", "two", "More about pipes", "They are blocking.")
	kernel := s.turn("ada", "one", "What does the kernel do?", "It schedules.")
	s.turnAs(wire.TurnFailed, "ada", "one", "pipes that failed", "")
	s.turnAs(wire.TurnCancelled, "ada", "one", "pipes that were cancelled", "")
	aborted := s.turnAs(wire.TurnAborted, "ada", "one", "loops", "pipes, until the step limit")
	x := open(t, Options{Dir: dir})

	wantTurns(t, find(t, x, "ada", "two", "PIPES?"), pipes, aborted)
	wantTurns(t, find(t, x, "ada", "three", "pipes"), own, pipes, aborted)
	wantTurns(t, find(t, x, "ada", "two", "kernel"), kernel, pipes)
	wantTurns(t, find(t, x, "eve", "two", "pipes"))
	for _, wordless := range []string{"", "?!", "\x00", "\xff\xfe", "🙂", "́"} {
		wantTurns(t, find(t, x, "ada", "two", wordless))
	}
	got, err := x.Retrieve(context.Background(), "ada", "x", "schedules")
	want := wire.Snippet{Turn: kernel, SessionID: "one", When: time.UnixMilli(1700000000123), Input: "What does the kernel do?", Response: "It schedules."}
	if err != nil || len(got) != 1 || !got[0].When.Equal(want.When) || got[0].Input != want.Input || got[0].Response != want.Response || got[0].SessionID != want.SessionID {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestNothingStored(t *testing.T) {
	x := open(t, Options{Dir: t.TempDir()})
	wantTurns(t, find(t, x, "ada", "one", "pipes"))
	if _, err := os.Stat(x.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is an index of nothing: %v", err)
	}
	s := newSessions(t, x.options.Dir)
	wantTurns(t, find(t, x, "ada", "one", "pipes"))
	turn := s.turn("ada", "two", "pipes", "")
	wantTurns(t, find(t, x, "ada", "one", "pipes"), turn)
}

func TestNothingIsOpenedBeforeTheFirstRetrieve(t *testing.T) {
	dir := t.TempDir()
	newSessions(t, dir).turn("ada", "one", "pipes", "")
	x := open(t, Options{Dir: dir})
	closeIndex(t, x)
	if _, err := os.Stat(x.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index is there: %v", err)
	}
	if _, err := x.Retrieve(context.Background(), "ada", "two", "pipes"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestTheIndexFollows(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	x, other := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	first := s.turn("ada", "one", "alpha", "beta")
	wantTurns(t, find(t, x, "ada", "two", "beta"), first)
	second := s.turn("ada", "one", "beta", "beta gamma")
	wantTurns(t, find(t, other, "ada", "two", "beta"), second, first)
	wantTurns(t, find(t, x, "ada", "two", "beta"), second, first)

	s.exec(`UPDATE turns SET response = 'delta', status = 'done' WHERE id = ?`, first) // resumed
	s.exec(`INSERT INTO journal (turn_id, deleted) VALUES (?, 0)`, first)
	wantTurns(t, find(t, x, "ada", "two", "beta"), second)
	wantTurns(t, find(t, other, "ada", "two", "delta"), first)

	s.delete(second)
	wantTurns(t, find(t, x, "ada", "two", "beta"))
	s.delete(first)
	wantTurns(t, find(t, x, "ada", "two", "alpha delta"))
	var users int
	if err := x.store.read.QueryRow(`SELECT count(*) FROM users`).Scan(&users); err != nil || users != 0 {
		t.Errorf("%d users are known of whom nothing is stored; %v", users, err)
	}
}

// TestADeletedTurnIsGoneAtOnce: even where the index doesn't know yet.
func TestADeletedTurnIsGoneAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	turn := s.turn("ada", "one", "alpha", "")
	x := open(t, Options{Dir: dir})
	wantTurns(t, find(t, x, "ada", "two", "alpha"), turn)
	s.exec(`DELETE FROM turns`)
	wantTurns(t, find(t, x, "ada", "two", "alpha"))
}

func TestLanguages(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	x := open(t, Options{Dir: dir, TopK: 1})
	for _, c := range []struct{ text, query string }{
		{"我想知道北京的天气怎么样", "天气"},
		{"我养了一只猫", "猫"},
		{"昨日は図書館で本を読みました", "図書館はどこ？"},
		{"コーヒーメーカーの使い方", "コーヒー"},
		{"데이터베이스를 백업하는 방법", "데이터베이스"},
		{"ภาษาไทยไม่มีช่องว่าง", "ภาษาไทย"},
		{"Das Café in Zürich", "CAFE zurich"},
		{"Cafe\u0301 au lait", "café"},
		{"Привет, МИР", "мир"},
		{"हिन्दी में लिखो", "हिन्दी"},
		{"مرحبا بالعالم", "بالعالم"},
		{"error E0308 in src/main.rs", "E0308"},
		{"the variable max_tokens", "tokens"},
		{"𝒳 and ligatures ﬁ", "ligatures"},
		{"left\x00right", "right"},
		{"broken \xff\xfe bytes \xe6\x97", "bytes"},
	} {
		turn := s.turn("ada", c.text, c.text, "")
		wantTurns(t, find(t, x, "ada", "two", c.query), turn)
	}
}

func TestQueriesAreData(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	other := s.turn("bob", "one", "secret", "secret")
	turn := s.turn("ada", "one", "near and not or input response", "quote")
	x := open(t, Options{Dir: dir})
	for _, query := range []string{
		`"`, `""`, `quote"`, `"quote" OR "`, `NEAR(near quote, 5)`, `input : near`, `{input response} : near`, `- input : near`,
		`^near`, `near*`, `near + and`, `NOT near`, `(near`, `) near (`, `near AND`, `OR input`, `'; DROP TABLE words; --near`,
		`1:secret near`, `near "1:secret"`, "near\x00\"secret", "\xffnear\xff", strings.Repeat(`"`, 5000) + "near", strings.Repeat("near ", 200_000),
		strings.Repeat("x", 1<<20) + " near", strings.Repeat("語", 1<<18) + " near",
	} {
		got := find(t, x, "ada", "two", query)
		if strings.Trim(query, `"`) == "" {
			wantTurns(t, got)
			continue
		}
		wantTurns(t, got, turn)
	}
	wantTurns(t, find(t, x, "bob", "two", "1:secret"), other)
	wantTurns(t, find(t, x, "ada", "two", "1:secret 2:secret secret"))
}

func TestSnippetsAndIndexAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := newSessions(t, dir)
	long := strings.Repeat("é", 6<<10)
	turn := s.turn("ada", "one", "begin "+long+" late", "start "+long[:9000]+" end")
	x := open(t, Options{Dir: dir})
	wantTurns(t, find(t, x, "ada", "two", "late"))
	wantTurns(t, find(t, x, "ada", "two", "end"))
	got, err := x.Retrieve(context.Background(), "ada", "two", "begin")
	if err != nil || len(got) != 1 || got[0].Turn != turn {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := len(got[0].Input); n > snippetInput || n < snippetInput-1 || strings.ContainsRune(got[0].Input, '\uFFFD') {
		t.Errorf("the input has %d bytes: %q", n, got[0].Input[n-8:])
	}
	if n := len(got[0].Response); n > snippetResponse || n < snippetResponse-1 {
		t.Errorf("the response has %d bytes", n)
	}
}

func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	newSessions(t, dir).turn("ada", "one", "pipes", "")
	x := open(t, Options{Dir: dir})
	cause := errors.New("the host went away")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := x.Retrieve(ctx, "ada", "two", "pipes"); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestPrivateFile(t *testing.T) {
	dir := t.TempDir()
	newSessions(t, dir).turn("ada", "one", "pipes", "")
	find(t, open(t, Options{Dir: dir}), "ada", "two", "pipes")
	info, err := os.Stat(filepath.Join(dir, "memory.db"))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
