package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/wire"
)

const (
	snippetInput    = 1 << 10 // bytes of a snippet's input
	snippetResponse = 2 << 10 // bytes of a snippet's response
)

// source reads the session store's file. Its connections belong to it and are closed with it. All its
// errors wrap errUnreadable.
type source struct {
	db   *sql.DB
	info os.FileInfo // of the file when it was opened, to notice another in its place
}

// change is what the journal tells of a turn: that it is gone, or what it says now.
type change struct {
	seq, turn                      int64
	gone                           bool
	user, session, input, response string
}

// openSource opens sessions.db for reading. It returns nil without an error while there is none, or an
// empty one that its store is just making.
func openSource(ctx context.Context, dir string) (*source, error) {
	path := filepath.Join(dir, "sessions.db")
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	s, empty, err := openSourceAs(ctx, path, "mode=ro")
	if c := code(err); c == codeCantOpen || c == codeReadOnly {
		// In a folder that can't be written a file in WAL mode opens only as one that nobody changes.
		if _, missing := os.Stat(path + "-wal"); errors.Is(missing, os.ErrNotExist) {
			s, empty, err = openSourceAs(ctx, path, "immutable=1")
		}
	}
	if err != nil || empty {
		return nil, err
	}
	s.info = info
	return s, nil
}

func openSourceAs(ctx context.Context, path, option string) (s *source, empty bool, err error) {
	db, err := sql.Open("sqlite", dsn(path)+"?"+option+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return nil, false, unreadable(err)
	}
	db.SetMaxOpenConns(4)
	var tables int
	if err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables == 0 {
		db.Close()
		return nil, err == nil, unreadable(err)
	}
	return &source{db: db}, false, nil
}

// dsn returns the file: address of a path, without parameters.
func dsn(path string) string {
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}).String()
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnreadable, err)
}

func (s *source) close() {
	if s != nil {
		s.db.Close()
	}
}

// replaced reports whether another file, or none, stands where this one was opened.
func (s *source) replaced(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "sessions.db"))
	return err != nil || !os.SameFile(info, s.info)
}

const newestQuery = `SELECT coalesce((SELECT value FROM meta WHERE key = 'file_id'), ''),
	coalesce((SELECT max(seq) FROM journal), 0)`

// newest returns which sessions file this is and the highest entry of its journal.
func (s *source) newest(ctx context.Context) (fileID string, seq int64, err error) {
	err = s.db.QueryRowContext(ctx, newestQuery).Scan(&fileID, &seq)
	return fileID, seq, unreadable(err)
}

// changesQuery reads texts as blobs, in which substr counts bytes and passes over NUL.
const changesQuery = `SELECT j.seq, j.turn_id,
	j.deleted <> 0 OR t.id IS NULL OR coalesce(t.status, '') NOT IN ('done', 'aborted'),
	coalesce(t.user_id, ''), coalesce(t.session_id, ''),
	coalesce(substr(CAST(t.input AS BLOB), 1, ?), ''), coalesce(substr(CAST(t.response AS BLOB), 1, ?), '')
	FROM journal j LEFT JOIN turns t ON t.id = j.turn_id WHERE j.seq > ? ORDER BY j.seq LIMIT ?`

// changes returns the next entries of the journal, in order.
func (s *source) changes(ctx context.Context, after int64, limit int) (list []change, err error) {
	rows, err := s.db.QueryContext(ctx, changesQuery, indexedInput+1, indexedResponse+1, after, limit)
	if err != nil {
		return nil, unreadable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c change
		if err := rows.Scan(&c.seq, &c.turn, &c.gone, &c.user, &c.session, &c.input, &c.response); err != nil {
			return nil, unreadable(err)
		}
		c.input, c.response = cutBytes(c.input, indexedInput), cutBytes(c.response, indexedResponse)
		list = append(list, c)
	}
	return list, unreadable(rows.Err())
}

const snippetQuery = `SELECT session_id, started,
	coalesce(substr(CAST(input AS BLOB), 1, ?), ''), coalesce(substr(CAST(response AS BLOB), 1, ?), '')
	FROM turns WHERE id = ? AND user_id = ? AND session_id <> ? AND status IN ('done', 'aborted')`

// snippet reads a turn that the index named; ok is false when it is gone, or not one of the user's
// other sessions, whatever the index says.
func (s *source) snippet(ctx context.Context, turn int64, user, session string) (snippet wire.Snippet, ok bool, err error) {
	var started int64
	snippet.Turn = turn
	err = s.db.QueryRowContext(ctx, snippetQuery, snippetInput+1, snippetResponse+1, turn, user, session).
		Scan(&snippet.SessionID, &started, &snippet.Input, &snippet.Response)
	if errors.Is(err, sql.ErrNoRows) {
		return wire.Snippet{}, false, nil
	}
	snippet.When = time.UnixMilli(started)
	snippet.Input, snippet.Response = cutBytes(snippet.Input, snippetInput), cutBytes(snippet.Response, snippetResponse)
	return snippet, err == nil, unreadable(err)
}

const textsQuery = `SELECT id, coalesce(substr(CAST(input AS BLOB), 1, ?), ''),
	coalesce(substr(CAST(response AS BLOB), 1, ?), '')
	FROM turns WHERE id IN (SELECT value FROM json_each(?))`

// texts returns what is to be embedded of the turns that are still there.
func (s *source) texts(ctx context.Context, turns []int64) (texts map[int64]string, err error) {
	list, err := json.Marshal(turns)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, textsQuery, embeddedBytes+1, embeddedBytes+1, string(list))
	if err != nil {
		return nil, unreadable(err)
	}
	defer rows.Close()
	texts = map[int64]string{}
	for rows.Next() {
		var turn int64
		var input, response string
		if err := rows.Scan(&turn, &input, &response); err != nil {
			return nil, unreadable(err)
		}
		texts[turn] = embeddedText(input, response)
	}
	return texts, unreadable(rows.Err())
}
