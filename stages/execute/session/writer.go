package session

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	maxBatch = 64
	tries    = 2
)

// job is one piece of work for the writer. It reports errors of its own, those that aren't the
// database's, before it has changed anything: other jobs share the transaction.
type job struct {
	// run may be called again when the transaction failed or the file was replaced; what it sets counts
	// from the last time.
	run     func(b *base) error
	done    chan error  // has room for the one answer
	release *held       // set when the job gives a lease back
	took    atomic.Bool // set by the writer or by a caller that gives up, whoever is first
}

// writer owns the database. Its goroutine ends when jobs is closed.
type writer struct {
	options Options
	log     *slog.Logger
	engine  engine
	queues  *queues
	jobs    chan *job
	// publish tells the store of a database that was opened, and what to tell people.
	publish func(b *base, notices []string)
	retire  func() // keeps readers away from a database that will be closed

	base       *base
	generation int64
}

func (w *writer) run() {
	tick := time.NewTicker(renewTime)
	defer tick.Stop()
	for {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				w.end()
				return
			}
			w.batch(j)
		case <-tick.C:
			w.renew()
		}
	}
}

func (w *writer) end() {
	if w.base != nil {
		if err := w.engine.dropLeases(w.base.connection); err != nil {
			w.log.Debug("leases are left to expire", "error", err)
		}
		w.retire()
		if err := w.base.close(); err != nil {
			w.log.Warn("the session file did not close well", "error", err)
		}
	}
	w.engine.leave()
}

// renew keeps the leases of this engine's chats, and gives back those that could not be before. When no
// chat has a session, nothing is kept.
func (w *writer) renew() {
	if w.base == nil || w.base.path == "" || !w.engine.left {
		return
	}
	renew := w.engine.dropLeases
	if w.queues.busy() {
		renew = func(c *connection) error {
			return errors.Join(w.engine.releaseRest(c), w.engine.renewLeases(c, time.Now()))
		}
	}
	if err := renew(w.base.connection); err != nil {
		w.log.Warn("the session leases could not be renewed", "error", reason(err, w.base.path))
	}
}

// batch runs a job and those that wait behind it in one transaction, and each alone when that failed.
func (w *writer) batch(first *job) {
	if err := w.open(); err != nil {
		w.answer(first, err)
		return
	}
	err := w.base.begin()
	batch := w.gather(first)
	if codeOf(err) == sqlite3.SQLITE_BUSY { // nobody's next try would fare better
		for _, j := range batch {
			w.finish(j, err)
		}
		return
	}
	if err != nil {
		w.retryAll(batch)
		return
	}
	results, err := w.attempt(batch)
	if err != nil {
		w.retryAll(batch)
		return
	}
	for i, j := range batch {
		w.finish(j, results[i])
	}
}

// gather takes the jobs that wait, less those whose callers have given up.
func (w *writer) gather(first *job) (batch []*job) {
	if first.took.CompareAndSwap(false, true) {
		batch = append(batch, first)
	}
	for len(batch) < maxBatch {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return batch
			}
			if j.took.CompareAndSwap(false, true) {
				batch = append(batch, j)
			}
		default:
			return batch
		}
	}
	return batch
}

// attempt runs the jobs in the transaction that has begun. The error is that of the transaction: then
// nothing was done.
func (w *writer) attempt(batch []*job) (results []error, err error) {
	results = make([]error, len(batch))
	for i, j := range batch {
		if results[i] = j.run(w.base); results[i] != nil && !isOurs(results[i]) {
			w.base.rollback()
			return nil, results[i]
		}
	}
	w.prune()
	if err := w.base.commit(); err != nil {
		return nil, err
	}
	w.scrub()
	if w.base.moved() { // another engine has set it aside, and with it what was written
		return nil, errMoved
	}
	return results, nil
}

// scrub empties the write-ahead log after a deletion, as far as no reader is in the way.
func (w *writer) scrub() {
	if !w.base.scrub {
		return
	}
	w.base.scrub = false
	if err := w.base.script("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		w.log.Debug("the write-ahead log could not be emptied", "error", err)
	}
}

func (w *writer) answer(j *job, err error) {
	if j.took.CompareAndSwap(false, true) {
		w.finish(j, err)
	}
}

// finish answers a job. A lease that could not be given back is given back with the next renewal.
func (w *writer) finish(j *job, err error) {
	if err != nil && j.release != nil {
		w.engine.unreleased = append(w.engine.unreleased, *j.release)
	}
	j.done <- err
}

func (w *writer) retryAll(batch []*job) {
	for _, j := range batch {
		w.retry(j)
	}
}

// retry runs one job in a transaction of its own, in a new file where the old one is damaged or gone.
func (w *writer) retry(j *job) {
	err := w.once(j)
	if w.options.Inspect {
		w.finish(j, err)
		return
	}
	for range tries { // the file was moved, and the one in its place may be damaged
		switch {
		case errors.Is(err, errMoved):
			err = w.reopen(nil)
		case isDamage(err):
			err = w.reopen(err)
		default:
			w.finish(j, err)
			return
		}
		if err == nil {
			err = w.once(j)
		}
	}
	w.finish(j, err)
}

func (w *writer) once(j *job) error {
	if w.base == nil {
		return errMoved
	}
	if err := w.base.begin(); err != nil {
		if !isDamage(err) && w.base.moved() {
			return errMoved
		}
		return err
	}
	results, err := w.attempt([]*job{j})
	if err != nil {
		return err
	}
	return results[0]
}

// do has the writer run a function inside a transaction, and waits for it. Work that has begun isn't
// abandoned when ctx ends.
func (s *Store) do(ctx context.Context, run func(b *base) error) error {
	j := &job{run: run, done: make(chan error, 1)}
	if err := s.send(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.took.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-j.done
	}
}
