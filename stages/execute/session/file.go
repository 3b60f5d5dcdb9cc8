package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	fileName = "sessions.db"
	// lockName is locked while the file is opened, made or set aside, so that one engine does so at a
	// time. It is never removed.
	lockName = "sessions.lock"
	// newName begins the names of files in the making.
	newName = fileName + ".new-"
	// damagedName begins the names of files that were set aside.
	damagedName = fileName + ".damaged-"

	openTimeout = 10 * time.Second
	readers     = 4
)

// companions are what SQLite keeps beside a file.
var companions = []string{"-wal", "-shm", ""}

// base is an opened database: the file, or one in memory.
type base struct {
	// generation counts the databases that a store has opened, from 1.
	generation int64
	// engine is the store among those that share the file; it is the writer's.
	engine *engine
	// scrub is set by a job that deleted text, which is to leave the write-ahead log, too. The writer
	// clears it.
	scrub bool
	// undo takes back what the jobs of the transaction at hand remembered. The writer clears it.
	undo []func()
	*connection
	// path is empty for one in memory, and so is info, by which the file is known again.
	path string
	info os.FileInfo

	readers *sql.DB // nil in memory
	mu      sync.Mutex
	reads   map[string]*sql.Stmt // guarded by mu
}

// opening is how a folder's file is opened.
type opening struct {
	dir string
	// inspect makes nothing, sets nothing aside and repairs nothing.
	inspect bool
	// engine is the id of who opens.
	engine string
	// broken is a file that turned out damaged when it was open, and damage what was met.
	broken os.FileInfo
	damage error
}

// open opens the folder's file, which it makes when there is none or the one there is damaged; notices
// tell what was done about that. The error says why no file can be used.
func (o opening) open(ctx context.Context) (b *base, notices []string, err error) {
	path := filepath.Join(o.dir, fileName)
	if o.inspect && !exists(path) {
		return nil, nil, ErrNoFile
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	lock, err := lockFile(ctx, filepath.Join(o.dir, lockName))
	if err != nil {
		return nil, nil, err
	}
	defer lock.Close()
	damage := o.damage
	if info, err := os.Stat(path); err == nil && (o.broken == nil || !os.SameFile(info, o.broken)) {
		b, notices, damage = o.openPatiently(ctx, path)
		if b != nil || o.inspect || !isDamage(damage) {
			return b, notices, damage
		}
	}
	b, more, err := replaceFile(path, damage)
	return b, append(notices, more...), err
}

// prepareFolder makes the folder and takes the rights of others away.
func prepareFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return os.Chmod(dir, mode&^0o077)
	}
	return nil
}

// openPatiently opens a file that is there, which may be busy until ctx ends.
func (o opening) openPatiently(ctx context.Context, path string) (b *base, notices []string, err error) {
	for {
		var more []string
		b, more, err = o.openExisting(path)
		notices = append(notices, more...)
		if !isBusy(err) || ctx.Err() != nil {
			return b, notices, err
		}
		time.Sleep(lockInterval)
	}
}

// openExisting opens a file that is there. The folder is locked.
func (o opening) openExisting(path string) (b *base, notices []string, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, errForeign
	}
	if !o.inspect {
		if notices, err = checkWAL(path, o.engine); err != nil {
			return nil, nil, err
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, notices, err
		}
	}
	b, err = openBase(path)
	return b, notices, err
}

// openBase opens a file with everything that a store needs of it.
func openBase(path string) (*base, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	c, err := connect(path)
	if err != nil {
		return nil, err
	}
	b := &base{connection: c, path: path, info: info, reads: map[string]*sql.Stmt{}}
	if err = verify(c); err == nil {
		err = migrate(c, migrations)
	}
	if err == nil {
		_, err = c.text("PRAGMA journal_mode=WAL")
	}
	if err == nil {
		b.readers, err = sql.Open("sqlite", dataSource(path)+pragmas+fmt.Sprintf(busyTimeout, busyPatience.Milliseconds())+"&_query_only=1")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	b.readers.SetMaxOpenConns(readers)
	b.readers.SetMaxIdleConns(readers)
	return b, nil
}

// moved reports whether the file's name stands for another file by now, or for none.
func (b *base) moved() bool {
	if b.path == "" {
		return false
	}
	info, err := os.Stat(b.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, b.info)
}

// read implements rowSource over the connections for reading.
func (b *base) read(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := b.readStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (b *base) readStatement(ctx context.Context, query string) (*sql.Stmt, error) {
	b.mu.Lock()
	kept := b.reads[query]
	b.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	statement, err := b.readers.PrepareContext(ctx, query) // may wait for a connection
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept := b.reads[query]; kept != nil { // another was faster
		return kept, statement.Close()
	}
	b.reads[query] = statement
	return statement, nil
}

func (b *base) close() error {
	if b.readers == nil {
		return b.connection.close()
	}
	for _, statement := range b.reads {
		statement.Close()
	}
	return errors.Join(b.readers.Close(), b.connection.close())
}
