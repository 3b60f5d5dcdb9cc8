//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// answered sends a chat and wants its whole answer; its warnings are told.
func answered(t *testing.T, e *host.Engine, id, input string) []string {
	t.Helper()
	say(e, id, "u", "s", input)
	var warnings []string
	for _, w := range wantWhole(t, e, id, fakellama.Text(input)).Get("warnings").Array() {
		warnings = append(warnings, w.Str)
	}
	return warnings
}

// wantTold wants one of the warnings to say all of these words.
func wantTold(t *testing.T, warnings []string, words ...string) {
	t.Helper()
	for _, warning := range warnings {
		missing := 0
		for _, word := range words {
			if !strings.Contains(warning, word) {
				missing++
			}
		}
		if missing == 0 {
			return
		}
	}
	t.Errorf("no warning says %q: %q", words, warnings)
}

// TestNoRoom: what can't be stored is told in each chat, which is answered; once there is room, turns are
// stored again. A limit of the process always makes it so, a disk that is full where one can be made.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	t.Run("files may not grow", filesMayNotGrow)
	if dir, ok := smallDisk(t); ok {
		t.Run("full disk", func(t *testing.T) { diskThatIsFull(t, dir) })
	}
}

func diskThatIsFull(t *testing.T, dir string) {
	s := newShared(t, "")
	s.data = dir
	e := s.start(host.Options{})
	if warnings := answered(t, e, "before", "n=1"); len(warnings) > 0 {
		t.Errorf("the warnings are %q", warnings)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not small")
	}
	// SQLite has some room left within its files.
	for i := 0; ; i++ {
		if warnings := answered(t, e, numbered("full", i), "n=100 size=100"); len(warnings) > 0 {
			wantTold(t, warnings, "disk", "full", "free some space")
			break
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if warnings := answered(t, e, "after", "n=2"); len(warnings) > 0 {
		t.Errorf("the warnings are %q", warnings)
	}
	turns := s.turns("u", "s")
	if last := turns[len(turns)-1]; last.Get("input").Str != "n=2" || last.Get("status").Str != "done" {
		t.Errorf("stored is %s", last.Raw)
	}
	wantEnd(t, e, nil)
}

// limited starts the engine where no file may have more than 200 KiB.
func (s *shared) limited() *host.Engine {
	s.t.Helper()
	script := filepath.Join(s.t.TempDir(), "limited")
	write(s.t, script, fmt.Sprintf("#!/bin/sh\nulimit -f 400\nexec %q \"$@\"\n", built(s.t)))
	return s.start(host.Options{Path: script})
}

func filesMayNotGrow(t *testing.T) {
	s := newShared(t, "")
	e := s.limited()
	stored := 0
	for ; ; stored++ {
		if warnings := answered(t, e, numbered("c", stored), "n=100 size=100"); len(warnings) > 0 {
			wantTold(t, warnings, "not stored", s.data)
			break
		}
	}
	wantEnd(t, e, nil)
	e = s.start(host.Options{})
	if warnings := answered(t, e, "after", "n=1"); len(warnings) > 0 {
		t.Errorf("the warnings are %q", warnings)
	}
	if turns := s.turns("u", "s"); len(turns) < stored+1 {
		t.Errorf("%d turns are stored, not %d", len(turns), stored+1)
	}
	wantEnd(t, e, nil)
}

// A folder that can't be written is told, and names what to do.
func TestFolderThatCannotBeWritten(t *testing.T) {
	folders := map[string]func(t *testing.T) string{
		"below a file": func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "file")
			write(t, file, "")
			return filepath.Join(file, "data")
		},
		"read only": func(t *testing.T) string {
			if dir, ok := readOnlyDisk(t); ok {
				return dir
			}
			if os.Getuid() == 0 {
				return "/proc/sluice" // where not even root can make anything
			}
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	}
	for name, folder := range folders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, "")
			s.data = folder(t)
			e := s.start(host.Options{})
			wantTold(t, answered(t, e, "c", "n=3"), "app.data_dir", s.data)
			answered(t, e, "d", "n=2")
			if got := conversation(s.newest(2)); got != "user:n=3|assistant: w0 w1 w2|user:n=2|" {
				t.Errorf("the session is not kept in memory: the model was sent %q", got)
			}
			wantEnd(t, e, nil)
		})
	}
}
