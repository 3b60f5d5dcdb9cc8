package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/internal/filelock"
)

// enginesFolder holds a file per running engine, which that engine keeps locked for as long as it
// lives. A lock is told from a dead process's at once, where a process number may have been given to
// another process since and means nothing in another container.
const enginesFolder = "engines"

// lockedPrefix begins the id of an engine that has its lock: such an engine whose file is gone is dead.
const lockedPrefix = "locked-"

const lockInterval = 10 * time.Millisecond

// randomName returns a name that nothing else has.
func randomName() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// lockFile opens and locks the file, which it creates; closing the file gives the lock back. It asks
// again until it has the lock, ctx ends or another error comes.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		file, err := tryLockFile(path, os.O_CREATE)
		if !errors.Is(err, filelock.ErrLocked) {
			return file, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

func tryLockFile(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Try(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// engine is this store among the engines that share a folder. The writer owns it.
type engine struct {
	// id owns leases. An engine without a lock, where the folder's file system has none, is found dead
	// by the expiry of its leases alone.
	id string
	// left says that a lease of this engine may be in the file.
	left bool
	// unreleased are leases that a chat gave back while the file could not be written.
	unreleased []held
	dir        string
	lock       *os.File // set by enter, closed by leave
}

// enter takes a lock that shows for as long as this process lives.
func (e *engine) enter(dir string) error {
	if e.lock != nil {
		if sameFile(e.lock, filepath.Join(e.dir, e.id)) {
			return nil
		}
		e.lock.Close() // somebody cleared the folder
		e.lock = nil
	}
	e.dir = filepath.Join(dir, enginesFolder)
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	sweep(e.dir)
	id := lockedPrefix + randomName()
	path := filepath.Join(e.dir, id)
	for range 3 { // another's sweep may take the file away before it is locked
		lock, err := tryLockFile(path, os.O_CREATE)
		if errors.Is(err, filelock.ErrLocked) {
			continue
		}
		if err != nil {
			return err
		}
		if sameFile(lock, path) {
			e.lock, e.id = lock, id
			return nil
		}
		lock.Close()
	}
	return filelock.ErrLocked
}

func (e *engine) leave() {
	if e.lock == nil {
		return
	}
	os.Remove(filepath.Join(e.dir, e.id)) // before the lock goes, so that nobody finds it half gone
	e.lock.Close()
	os.Remove(filepath.Join(e.dir, e.id)) // where an open file can't be removed
	e.lock = nil
}

// dead reports whether the engine of that id is known to have ended, and removes what it left.
func (e *engine) dead(id string) bool {
	if e.dir == "" || filepath.Base(id) != id {
		return false
	}
	path := filepath.Join(e.dir, id)
	return removeIfDead(path) || strings.HasPrefix(id, lockedPrefix) && !exists(path)
}

// sweep removes the files of dead engines.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		removeIfDead(filepath.Join(dir, entry.Name()))
	}
}

func removeIfDead(path string) bool {
	lock, err := tryLockFile(path, 0)
	if err != nil {
		return false
	}
	os.Remove(path)
	lock.Close()
	os.Remove(path)
	return true
}

// sameFile reports whether the path still names the open file.
func sameFile(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

// exists reports whether there is something at the path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
