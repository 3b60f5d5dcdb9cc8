package profile

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"sluice/internal/filelock"
)

// lockInterval is how often a lock that another process has is asked for.
const lockInterval = 10 * time.Millisecond

// lockFile opens and locks the file, which it creates and which stays; closing it gives the lock back. It
// asks until it has the lock, ctx ends (filelock.ErrLocked) or another error comes.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		err := filelock.Try(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			file.Close()
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			file.Close()
			return nil, filelock.ErrLocked
		}
	}
}

// endings count how often the sessions of each profile were ended in this process, by a sign-out or by
// another server.
type endings struct {
	mu     sync.Mutex
	byName map[string]uint64
}

func (e *endings) of(name string) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byName[name]
}

func (e *endings) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName == nil {
		e.byName = map[string]uint64{}
	}
	e.byName[name]++
}

// turns give what a name stands for to one user of it at a time, in this process.
type turns struct {
	mu     sync.Mutex
	byName map[string]chan struct{} // each holds a token while somebody has the turn
}

func (t *turns) of(name string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string]chan struct{}{}
	}
	if t.byName[name] == nil {
		t.byName[name] = make(chan struct{}, 1)
	}
	return t.byName[name]
}
