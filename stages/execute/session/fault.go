package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sluice/internal/filelock"
)

// refusal is an error of ours, where the database is in order and its transaction can go on.
type refusal string

func (r refusal) Error() string { return string(r) }

// What callers may want to tell from other errors.
const (
	// ErrLost is met by the writes of a chat whose session another chat has taken over.
	ErrLost refusal = "this chat's session was taken over by another chat, because this engine was suspended or stalled for too long; nothing more of this turn is stored: send the input again"
	// ErrInUse says that a running engine has the session.
	ErrInUse refusal = "the session is in use by a running engine; wait until its chat has ended, or end that engine"
	// ErrNoFile says that nothing is stored yet.
	ErrNoFile refusal = "no sessions are stored yet"
	// ErrNoTurn says that a session has no such turn, or the turn no such step or call.
	ErrNoTurn refusal = "the session has no such turn, step or tool call"
	// ErrClosed says that the store was closed.
	ErrClosed refusal = "the session store was closed: the engine is ending"
)

const (
	// errCrowded: too much waits for a file that is busy.
	errCrowded refusal = "too much waits for the session file, which another engine holds"
	// errHeld: another engine has the session.
	errHeld refusal = "another engine has the session"
	// errGone: a row that should be there isn't.
	errGone refusal = "a row is gone"
)

// What may be wrong with a file.
var (
	errForeign = errors.New("it is no session file")
	errNewer   = errors.New("it was written by a newer version")
	// errMoved: the file's name stands for another file by now.
	errMoved = errors.New("the session file was moved")
	// errShared: a database in memory has one connection, the writer's.
	errShared = errors.New("the database is in memory")
)

// codeOf returns SQLite's primary result code (https://www.sqlite.org/rescode.html); 0 for an error
// that isn't SQLite's.
func codeOf(err error) int {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		return failed.Code() & 0xff
	}
	return 0
}

// isDamage reports whether the error says that the file is damaged.
func isDamage(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || errors.Is(err, errForeign)
}

// isOurs reports whether the error is a refusal.
func isOurs(err error) bool {
	var ours refusal
	return errors.As(err, &ours)
}

// reason says what is wrong and what to do, in words for people.
func reason(err error, file string) string {
	switch code := codeOf(err); {
	case code == sqlite3.SQLITE_FULL && file == "":
		return "the memory for sessions is full; name a folder in app.data_dir, where they are kept in a file"
	case code == sqlite3.SQLITE_FULL || isFull(err):
		return fmt.Sprintf("the disk is full (%s); free some space", file)
	case code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED || errors.Is(err, filelock.ErrLocked):
		return fmt.Sprintf("another engine holds %s; end an engine that hangs or was suspended", file)
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM || errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s can't be written; give yourself the right to, or name another folder in app.data_dir", file)
	case code == sqlite3.SQLITE_TOOBIG:
		return "a text is larger than the file can hold (1 GB)"
	case isDamage(err):
		return fmt.Sprintf("%s is damaged", file)
	case code == sqlite3.SQLITE_IOERR || code == sqlite3.SQLITE_CANTOPEN:
		return fmt.Sprintf("%s can't be read or written (%v); look after the disk, or name another folder in app.data_dir", file, err)
	}
	return fmt.Sprintf("%v (%s)", err, file)
}

// unstored is the error of a write that failed.
type unstored struct {
	message string
	cause   error
}

func (u *unstored) Error() string { return u.message }
func (u *unstored) Unwrap() error { return u.cause }

// told turns an error of a database or file into one for people; refusals pass, and where ctx has ended
// its cause does.
func told(ctx context.Context, err error, what, file string) error {
	switch {
	case err == nil || isOurs(err):
		return err
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return context.Cause(ctx)
	}
	return &unstored{what + ": " + reason(err, file), err}
}
