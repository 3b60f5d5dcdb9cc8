//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// database is the file of sessions.
func (s *shared) database() string { return filepath.Join(s.data, "sessions.db") }

// A file that is no database is set aside as it is.
func TestDamagedSessions(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	garbage := bytes.Repeat([]byte("no database "), 5000)
	if err := os.WriteFile(s.database(), garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	e := s.start(host.Options{})
	warnings := answered(t, e, "c", "n=3")
	aside, _ := filepath.Glob(s.database() + ".damaged-*")
	if len(aside) != 1 {
		t.Fatalf("set aside are %q", aside)
	}
	if kept, _ := os.ReadFile(aside[0]); !bytes.Equal(kept, garbage) {
		t.Errorf("what was set aside has %d bytes", len(kept))
	}
	wantTold(t, warnings, filepath.Base(aside[0]))
	if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "done" {
		t.Errorf("stored are %s", turns)
	}
	if warnings := answered(t, e, "d", "n=1"); len(warnings) > 0 {
		t.Errorf("it is told again: %q", warnings)
	}
	wantEnd(t, e, nil)
}

// A file of which a part is damaged: an inner page of meta, of an index, or of turns. The chats are
// answered, and one is told.
func TestSessionsWithADamagedPart(t *testing.T) {
	const turns, page = 40, 4096
	for _, part := range []int64{1, 4, 9, 16} {
		t.Run(fmt.Sprint("page ", part), func(t *testing.T) {
			t.Parallel()
			s := newShared(t, "")
			e := s.start(host.Options{})
			for i := range turns {
				say(e, numbered("c", i), "u", numbered("s", i%4), "n=20 size=50")
				e.Result(numbered("c", i))
			}
			wantEnd(t, e, nil)
			s.damage(part*page, bytes.Repeat([]byte{0xa5}, page))
			e = s.start(host.Options{})
			for i := range 4 {
				say(e, numbered("d", i), "u", numbered("s", i), "n=3")
				wantWhole(t, e, numbered("d", i), fakellama.Text("n=3"))
			}
			wantEnd(t, e, nil)
			told := false
			for i := range 4 {
				told = told || strings.Contains(e.Result(numbered("d", i)).Get("warnings").Raw, "damaged")
				stored := s.turns("u", numbered("s", i))
				if last := stored[len(stored)-1]; last.Get("input").Str != "n=3" || last.Get("status").Str != "done" {
					t.Errorf("stored is %s", last.Raw)
				}
			}
			if !told {
				t.Error("no chat was told of the damage")
			}
		})
	}
}

// damage overwrites a part of the file of sessions.
func (s *shared) damage(at int64, with []byte) {
	s.t.Helper()
	file, err := os.OpenFile(s.database(), os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(with, at); err != nil {
		s.t.Fatal(err)
	}
}

// A file of a newer version is left as it is.
func TestSessionsOfANewerVersion(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	answered(t, e, "c", "n=3")
	wantEnd(t, e, nil)
	s.setVersion(1000)
	before, err := os.ReadFile(s.database())
	if err != nil {
		t.Fatal(err)
	}
	e = s.start(host.Options{})
	wantTold(t, answered(t, e, "d", "n=2"), "newer version", s.data)
	wantEnd(t, e, nil)
	if after, _ := os.ReadFile(s.database()); !bytes.Equal(after, before) {
		t.Error("the file was changed")
	}
}

func (s *shared) setVersion(version int) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.database())
	if err == nil {
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version=%d", version))
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
