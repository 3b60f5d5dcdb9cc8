package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// schemaVersion is the index's PRAGMA user_version: another means that the file is built anew.
const schemaVersion = 1

// damagedEnding is what the name of a file that was set aside has after the index's, before the time.
const damagedEnding = ".damaged-"

// schema makes an empty index. Texts in words are lists of words after their user's number, which is
// never given twice, so a list can't be reached by another user's queries. Marks belong to words, as in
// Hindi, and the colon holds number and word together. vectors_user holds all that signs are loaded
// from.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE docs (turn INTEGER PRIMARY KEY, user INTEGER NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL);
CREATE INDEX docs_user ON docs (user, turn);
CREATE INDEX docs_seq ON docs (seq);
CREATE VIRTUAL TABLE words USING fts5 (input, response, content = '', contentless_delete = 1,
	tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc' tokenchars ':'");
CREATE TABLE models (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, dimensions INTEGER NOT NULL,
	used INTEGER NOT NULL, UNIQUE (name, dimensions));
CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, user INTEGER NOT NULL,
	turn INTEGER NOT NULL, signs BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (turn, model));
CREATE INDEX vectors_user ON vectors (model, user, id, turn, signs);
`

// store is an open index. Its connections belong to it and are closed with it.
type store struct {
	write  *sql.DB // one connection, whose transactions lock the file at once
	read   *sql.DB // several; the same as write for an index in memory
	info   os.FileInfo
	memory bool // not in a file

	common commonWords

	countWords, countStored, findTurns, findWindow, findVectors *sql.Stmt // of read, closed with it
}

// openStore opens or makes the index's file. errForeign says that it is another program's or of
// another version.
func openStore(ctx context.Context, path string) (*store, error) {
	if err := create(path); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFile, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFile, err)
	}
	const common = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-16384)"
	s := &store{info: info}
	if s.write, err = sql.Open("sqlite", dsn(path)+common+"&_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.read, err = sql.Open("sqlite", dsn(path)+common+"&_pragma=query_only(1)"); err != nil {
		s.write.Close()
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	s.read.SetMaxOpenConns(min(4, runtime.GOMAXPROCS(0)+1))
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// create makes an empty file for nobody but its owner. One that is there is left alone: closing it
// would release SQLite's locks on it, which belong to the process (SQLite's "How To Corrupt", 2.2).
func create(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// openMemoryStore makes an empty index that ends with its one connection.
func openMemoryStore(ctx context.Context) (*store, error) {
	db, err := sql.Open("sqlite", "file::memory:?_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &store{write: db, read: db, memory: true}
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// prepare makes the tables in an empty file, checks that any other has them, and prepares what each
// search asks.
func (s *store) prepare(ctx context.Context) error {
	if err := s.prepareSchema(ctx); err != nil {
		return err
	}
	for statement, query := range map[**sql.Stmt]string{
		&s.countWords: countQuery, &s.countStored: storedQuery, &s.findTurns: turnsQuery, &s.findWindow: windowQuery,
		&s.findVectors: vectorsQuery,
	} {
		prepared, err := s.read.PrepareContext(ctx, query)
		if code(err) == codeError {
			return errForeign
		}
		if err != nil {
			return err
		}
		*statement = prepared
	}
	return nil
}

func (s *store) prepareSchema(ctx context.Context) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		var version, tables int
		err := tx.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM sqlite_schema`).
			Scan(&version, &tables)
		switch {
		case err != nil:
			return err
		case tables == 0:
			_, err = tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", schema, schemaVersion))
			return err
		case version != schemaVersion:
			return errForeign
		}
		if _, _, err = position(ctx, tx); code(err) == codeError {
			return errForeign
		}
		return err
	})
}

// transact runs f in a transaction that has the file to itself from its beginning.
func (s *store) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// replaced reports whether another file, or none, stands where this one was opened.
func (s *store) replaced(path string) bool {
	if s.memory {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || !os.SameFile(info, s.info)
}

func (s *store) close() {
	if s != nil {
		s.read.Close()
		s.write.Close()
	}
}

// setAside renames an index that can't be used, with the files that SQLite keeps beside it, and
// deletes what was set aside before. The log goes first: beside a new file it would be taken for its.
// now tells the new name's time.
func setAside(path, now string) error {
	dir, name := filepath.Split(path)
	older, _ := os.ReadDir(dir)
	for _, ending := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+ending, path+damagedEnding+now+ending)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, entry := range older {
		if strings.HasPrefix(entry.Name(), name+damagedEnding) {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
	return nil
}
