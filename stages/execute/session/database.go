package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The functions of this file are the writer's: which database there is.

// open opens a database when there is none yet: the file, or else one in memory.
func (w *writer) open() error {
	if w.base != nil {
		return nil
	}
	if w.options.Inspect {
		return w.inspect()
	}
	return w.reopen(nil)
}

// inspect opens the file as it is, without a place in memory to fall back to.
func (w *writer) inspect() error {
	o := opening{dir: w.options.Dir, inspect: true, engine: w.engine.id}
	if o.dir == "" {
		return ErrNoFile
	}
	w.engine.dir = filepath.Join(o.dir, enginesFolder)
	ctx, cancel := w.untilClosed()
	defer cancel()
	b, _, err := o.open(ctx)
	if err == nil {
		w.install(b, nil)
	}
	return err
}

// reopen opens a new database in place of the one there is, which was set aside by another engine, or
// is damaged as the error says and is set aside now.
func (w *writer) reopen(damage error) error {
	o := opening{dir: w.options.Dir, damage: damage}
	w.log.Debug("the session file is opened", "damage", damage)
	var notices []string
	if old := w.base; old != nil {
		w.retire()
		o.broken = old.info
		if old.moved() {
			notices = append(notices, movedNotice(old))
		}
		if err := old.close(); err != nil {
			w.log.Debug("the old session file did not close well", "error", err)
		}
		w.base = nil
	}
	b, more, err := w.openFolder(o)
	notices = append(notices, more...)
	if err != nil {
		w.log.Warn("sessions are kept in memory", "error", err)
		notices = append(notices, memoryNotice(o.dir, err))
		if b, err = openMemory(w.options.MemoryBytes); err != nil {
			return err
		}
	}
	w.install(b, notices)
	return nil
}

func (w *writer) install(b *base, notices []string) {
	w.generation++
	b.generation, b.engine = w.generation, &w.engine
	w.base = b
	for _, notice := range notices {
		w.log.Warn(notice)
	}
	w.publish(b, notices)
}

var errNoFolder = errors.New("no data folder is known")

// openFolder opens the folder's file. The engine shows first that it lives, so that others that find
// the file damaged know who has it open.
func (w *writer) openFolder(o opening) (*base, []string, error) {
	if o.dir == "" {
		return nil, nil, errNoFolder
	}
	if err := prepareFolder(o.dir); err != nil {
		return nil, nil, err
	}
	if err := w.engine.enter(o.dir); err != nil {
		w.log.Debug("this engine can't show that it lives; its leases expire when it doesn't", "error", err)
	}
	o.engine = w.engine.id
	ctx, cancel := w.untilClosed()
	defer cancel()
	return o.open(ctx)
}

// untilClosed returns a context that ends when the store is closed.
func (w *writer) untilClosed() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-w.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// movedNotice tells where a file went that another engine, or a person, has moved or removed.
func movedNotice(b *base) string {
	for _, name := range named(filepath.Dir(b.path), damagedName) {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, b.info) {
			return fmt.Sprintf("the session file %s was set aside by another engine as %s, because it was damaged; the session goes on in a new one", b.path, name)
		}
	}
	return fmt.Sprintf("the session file %s was moved or removed while it was in use; the session goes on in a new one", b.path)
}

// memoryNotice says why sessions are kept in memory, and what to do.
func memoryNotice(dir string, err error) string {
	file := filepath.Join(dir, fileName)
	const what = "sessions are kept in memory until this engine ends, because "
	switch {
	case errors.Is(err, errNoFolder):
		return what + "no data folder is known: name one in app.data_dir"
	case errors.Is(err, errNewer):
		return what + file + " was written by a newer version of this program: update this one, or name another folder in app.data_dir"
	case codeOf(err) != 0 || isFull(err) || errors.Is(err, os.ErrPermission):
		return what + reason(err, file)
	}
	return fmt.Sprintf("%sthe data folder %s can't be used (%v): make it a folder that can be written, or name another in app.data_dir", what, dir, err)
}

const (
	pageSize           = 4096
	defaultMemoryBytes = 64 << 20
)

// openMemory makes a database in memory of at most about so many bytes; twice that while a turn runs.
func openMemory(limit int64) (*base, error) {
	c, err := connect("")
	if err != nil {
		return nil, err
	}
	b := &base{connection: c}
	if err = migrate(c, migrations); err == nil {
		_, err = c.number(fmt.Sprintf("PRAGMA max_page_count=%d", 2*limit/pageSize))
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return b, nil
}

// prune forgets the oldest turns that have ended while a database in memory holds too much.
func (w *writer) prune() {
	if w.base.path != "" {
		return
	}
	for w.memoryUsed() > w.options.MemoryBytes {
		id, err := w.base.number("SELECT id FROM turns WHERE ended IS NOT NULL ORDER BY id LIMIT 1")
		if err != nil || deleteTurn(w.base.connection, id) != nil {
			return
		}
	}
}

func (w *writer) memoryUsed() int64 {
	pages, err := w.base.number("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count")
	if err != nil {
		return 0
	}
	return pages * pageSize
}
