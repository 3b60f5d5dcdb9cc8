package session

import (
	"errors"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// The functions of this file are the writer's: jobs and their transactions.

const (
	maxBatch = 64
	tries    = 2
	// maxWaiting is how many jobs wait for the writer before callers wait to hand theirs over.
	maxWaiting = 1024

	// busyPatience is how long the writer waits for a file that another engine holds, busyStep how long
	// SQLite waits at a time: in between the writer looks whether the store was closed.
	busyPatience = 5 * time.Second
	busyStep     = 50 * time.Millisecond
	// retryPatience is busyPatience for a renewal, and for each job of a transaction that failed.
	retryPatience = time.Second
	// keptInterval is how often jobs are tried again whose callers have given up.
	keptInterval = 250 * time.Millisecond
	// endPatience is busyPatience for all that is left to do when the store was closed.
	endPatience = 300 * time.Millisecond
)

// batch runs a job and those that wait behind it in one transaction, and each alone when that failed.
// first is nil when only the jobs that were kept are tried again.
func (w *writer) batch(first *job) {
	patience := w.patience
	if first == nil {
		patience = 0
	}
	if err := w.open(); err != nil {
		w.answer(first, err)
		return
	}
	if first != nil && first.run == nil { // needs no transaction
		w.answer(first, nil)
		return
	}
	err := w.begin(patience)
	if first == nil && isBusy(err) { // no new job has been given its time
		return
	}
	batch := w.gather(first)
	if isBusy(err) && !w.base.moved() { // nobody's next try would fare better
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

// begin begins a transaction, and waits so long for a file that another engine holds.
func (w *writer) begin(patience time.Duration) error {
	until := time.Now().Add(patience)
	for {
		err := w.base.begin()
		if !isBusy(err) || !time.Now().Before(w.sooner(until)) {
			return err
		}
	}
}

// sooner is until when the writer waits for a file that would else wait until then.
func (w *writer) sooner(until time.Time) time.Time {
	select {
	case <-w.closing:
		if w.endBy.IsZero() {
			w.endBy = time.Now().Add(endPatience)
		}
		if w.endBy.Before(until) {
			return w.endBy
		}
	default:
	}
	return until
}

func isBusy(err error) bool { return codeOf(err) == sqlite3.SQLITE_BUSY }

// gather takes the jobs that were kept and those that wait, less those that were taken back.
func (w *writer) gather(first *job) (batch []*job) {
	batch, w.kept, w.keptBytes = w.kept, nil, 0
	if first != nil && first.took.CompareAndSwap(false, true) {
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
	b := w.base
	b.undo = b.undo[:0]
	defer func() {
		if err != nil {
			for _, undo := range slices.Backward(b.undo) {
				undo()
			}
		}
		clear(b.undo)
	}()
	results = make([]error, len(batch))
	for i, j := range batch {
		if j.run == nil {
			continue
		}
		if results[i] = j.run(b); results[i] != nil && !isOurs(results[i]) {
			b.rollback()
			return nil, results[i]
		}
	}
	w.prune()
	if err := b.commit(); err != nil {
		return nil, err
	}
	w.scrub()
	if b.moved() { // another engine has set it aside, and with it what was written
		return nil, errMoved
	}
	return results, nil
}

func (w *writer) answer(j *job, err error) {
	if j != nil && j.took.CompareAndSwap(false, true) {
		w.finish(j, err)
	}
}

// finish answers a job, or keeps it when the file is busy and its caller has given up. A lease that
// could not be given back is given back with the next renewal.
func (w *writer) finish(j *job, err error) {
	switch {
	case err == nil:
	case isBusy(err) && j.stays && !j.parted.CompareAndSwap(false, true):
		w.keep(j)
		return
	default:
		w.forgo(j, err)
	}
	j.done <- err
}

// keep has a job tried again later. The oldest are given up when they hold too much memory.
func (w *writer) keep(j *job) {
	w.kept = append(w.kept, j)
	w.keptBytes += turnBytes(j.turn)
	for w.keptBytes > w.options.MemoryBytes || len(w.kept) > maxWaiting {
		oldest := w.kept[0]
		w.kept = w.kept[1:]
		w.keptBytes -= turnBytes(oldest.turn)
		w.forgo(oldest, errCrowded)
	}
}

// forgo notes that a job was not done. Whoever still waits for it is told.
func (w *writer) forgo(j *job, err error) {
	switch {
	case j.release != nil:
		w.engine.unreleased = append(w.engine.unreleased, *j.release)
	case j.stays && j.parted.Load() && !isBusy(err):
		w.log.Warn("a turn that ended while the session file was busy is not stored whole", "error", err)
	}
}

// retryAll runs each job alone. Once the file is busy the rest doesn't overtake what is kept.
func (w *writer) retryAll(batch []*job) {
	var err error
	for _, j := range batch {
		if !isBusy(err) {
			err = w.retry(j)
		}
		w.finish(j, err)
	}
}

// retry runs one job in a transaction of its own, in a new file where the old one is damaged or gone.
func (w *writer) retry(j *job) error {
	err := w.once(j)
	if w.options.Inspect {
		return err
	}
	for range tries { // the file was moved, and the one in its place may be damaged
		switch {
		case errors.Is(err, errMoved):
			err = w.reopen(nil)
		case isDamage(err):
			err = w.reopen(err)
		default:
			return err
		}
		if err == nil {
			err = w.once(j)
		}
	}
	return err
}

func (w *writer) once(j *job) error {
	if w.base == nil || w.base.moved() { // what was written to a file that was moved would be there twice
		return errMoved
	}
	if err := w.begin(min(retryPatience, w.patience)); err != nil {
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
