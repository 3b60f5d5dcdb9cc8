package memory

import (
	"errors"
	"fmt"
	"path/filepath"

	"modernc.org/sqlite"
)

// SQLite's primary result codes, https://www.sqlite.org/rescode.html.
const (
	codeError    = 1
	codeBusy     = 5
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNoDB     = 26
)

var (
	// errForeign says that memory.db is of another version or another program's.
	errForeign = errors.New("it is of another version")
	// errNoFile says that memory.db can't be made.
	errNoFile = errors.New("the file can't be made")
	// errUnreadable marks what is wrong with sessions.db, which isn't the index's to repair.
	errUnreadable = errors.New("the stored sessions can't be read")
)

// code returns the primary result code of an error of SQLite, else 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isDamage reports whether the index's file is to be set aside.
func isDamage(err error) bool {
	if err == nil || errors.Is(err, errUnreadable) {
		return false
	}
	c := code(err)
	return c == codeCorrupt || c == codeNoDB || errors.Is(err, errForeign)
}

// isUnwritable reports whether the index's file can't be had where it should be.
func isUnwritable(err error) bool {
	if err == nil || errors.Is(err, errUnreadable) {
		return false
	}
	c := code(err)
	return c == codeReadOnly || c == codeCantOpen || c == codeIO || errors.Is(err, errNoFile)
}

// explain says to a person why nothing is remembered and what to do.
func explain(dir string, err error) error {
	switch {
	case errors.Is(err, errUnreadable):
		return fmt.Errorf("past sessions aren't remembered: %s (%w); it is set aside and replaced when it is damaged, else update the engines that share app.data_dir",
			filepath.Join(dir, "sessions.db"), err)
	case code(err) == codeFull:
		return fmt.Errorf("past sessions aren't remembered: the disk that holds %s is full (%w); free some space or set app.data_dir to another folder", dir, err)
	case code(err) == codeBusy:
		return fmt.Errorf("past sessions aren't remembered in this turn: another engine holds %s (%w); try again", filepath.Join(dir, "memory.db"), err)
	}
	return fmt.Errorf("past sessions aren't remembered: the index in %s can't be used (%w); check the folder, or delete memory.db there, which is built anew", dir, err)
}
