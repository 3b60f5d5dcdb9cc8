package memory

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
)

// batchTurns is how many entries of the journal are indexed in one transaction: long enough that
// commits cost little, short enough that another engine, or a shutdown, waits about 0.1 s.
const batchTurns = 500

// row is what reads from either a transaction or a pool.
type row interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const positionQuery = `SELECT coalesce((SELECT value FROM meta WHERE key = 'file_id'), ''),
	coalesce((SELECT value FROM meta WHERE key = 'seq'), 0)`

// position returns how far the index has followed which sessions file's journal.
func position(ctx context.Context, r row) (fileID string, seq int64, err error) {
	err = r.QueryRowContext(ctx, positionQuery).Scan(&fileID, &seq)
	return fileID, seq, err
}

// behind reports whether the journal holds what the index hasn't followed, or is another file's.
func (s *store) behind(ctx context.Context, from *source) (bool, error) {
	sourceID, newest, err := from.newest(ctx)
	if err != nil {
		return false, err
	}
	fileID, seq, err := position(ctx, s.read)
	return fileID != sourceID || seq != newest, err
}

// follow indexes the journal's next entries, at most limit, and returns how far it is now. A journal
// that ends before the index's position is an older copy of the file: the index begins anew, as it
// does for another file's. With newest set, it begins at most that many entries before the end.
func (s *store) follow(ctx context.Context, from *source, limit, newest int) (seq, end int64, err error) {
	sourceID, end, err := from.newest(ctx)
	if err != nil {
		return 0, 0, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		var fileID string
		if fileID, seq, err = position(ctx, tx); err != nil {
			return err
		}
		if fileID != sourceID || seq > end {
			if seq, err = 0, wipe(ctx, tx); err != nil {
				return err
			}
		}
		if newest > 0 {
			seq = max(seq, end-int64(newest))
		}
		changes, err := from.changes(ctx, seq, limit)
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			seq = changes[len(changes)-1].seq
		} else {
			seq = end
		}
		return s.apply(ctx, tx, changes, sourceID, seq)
	})
	return seq, end, err
}

// wipe empties the index.
func wipe(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM meta; DELETE FROM users; DELETE FROM docs; DELETE FROM models;
		DELETE FROM vectors; INSERT INTO words (words) VALUES ('delete-all')`)
	return err
}

// apply indexes changes, of several of one turn only the last, which all of them have read.
func (s *store) apply(ctx context.Context, tx *sql.Tx, changes []change, fileID string, seq int64) error {
	last := map[int64]int{}
	for i, c := range changes {
		last[c.turn] = i
	}
	w, err := newWriter(ctx, tx)
	if err != nil {
		return err
	}
	for i, c := range changes {
		if last[c.turn] != i {
			continue
		}
		if err := w.change(ctx, c); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO meta VALUES ('file_id', ?), ('seq', ?)`, fileID, seq)
	return err
}

// writer writes turns in one transaction, which closes its statements.
type writer struct {
	tx                          *sql.Tx
	insertDoc, insertWords, doc *sql.Stmt
	users                       map[string]int64 // numbers that were looked up
	text                        []byte
}

func newWriter(ctx context.Context, tx *sql.Tx) (w *writer, err error) {
	w = &writer{tx: tx, users: map[string]int64{}}
	if w.doc, err = tx.PrepareContext(ctx, `SELECT user FROM docs WHERE turn = ?`); err != nil {
		return nil, err
	}
	if w.insertDoc, err = tx.PrepareContext(ctx, `INSERT INTO docs VALUES (?, ?, ?, ?)`); err != nil {
		return nil, err
	}
	w.insertWords, err = tx.PrepareContext(ctx, `INSERT INTO words (rowid, input, response) VALUES (?, ?, ?)`)
	return w, err
}

// change brings one turn up to date.
func (w *writer) change(ctx context.Context, c change) error {
	if err := w.forget(ctx, c.turn); err != nil || c.gone || c.input == "" && c.response == "" {
		return err
	}
	user, err := w.user(ctx, c.user)
	if err != nil {
		return err
	}
	if _, err := w.insertDoc.ExecContext(ctx, c.turn, user, c.session, c.seq); err != nil {
		return err
	}
	mark := userMark(user)
	w.text = appendIndexed(w.text[:0], mark, c.input)
	input := len(w.text)
	w.text = appendIndexed(w.text, mark, c.response)
	_, err = w.insertWords.ExecContext(ctx, c.turn, string(w.text[:input]), string(w.text[input:]))
	return err
}

// userMark stands before each indexed word of a user.
func userMark(user int64) string { return strconv.FormatInt(user, 10) + ":" }

// forget removes a turn, and its user's name with the last one.
func (w *writer) forget(ctx context.Context, turn int64) error {
	var user int64
	err := w.doc.QueryRowContext(ctx, turn).Scan(&user)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	clear(w.users)
	for _, statement := range []string{
		`DELETE FROM docs WHERE turn = ?1`,
		`DELETE FROM words WHERE rowid = ?1`,
		`DELETE FROM vectors WHERE turn = ?1`,
		`DELETE FROM users WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM docs WHERE user = ?2)`,
	} {
		if _, err := w.tx.ExecContext(ctx, statement, turn, user); err != nil {
			return err
		}
	}
	return nil
}

// user returns a user's number, a new one for a new name.
func (w *writer) user(ctx context.Context, name string) (id int64, err error) {
	if id, ok := w.users[name]; ok {
		return id, nil
	}
	if _, err := w.tx.ExecContext(ctx, `INSERT INTO users (name) VALUES (?) ON CONFLICT DO NOTHING`, name); err != nil {
		return 0, err
	}
	err = w.tx.QueryRowContext(ctx, `SELECT id FROM users WHERE name = ?`, name).Scan(&id)
	w.users[name] = id
	return id, err
}
