package session

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// writer owns the database. Its goroutine ends when jobs is closed.
type writer struct {
	options Options
	log     *slog.Logger
	engine  engine
	queues  *queues
	jobs    chan *job
	// closing is closed when the store is, before jobs.
	closing <-chan struct{}
	// patience is busyPatience but in tests.
	patience time.Duration
	// publish tells the store of a database that was opened, and what to tell people.
	publish func(b *base, notices []string)
	retire  func() // keeps readers away from a database that will be closed

	base       *base
	generation int64
	// kept are jobs that could not be done while the file was busy and whose callers have given up, in
	// their order; keptBytes is about how much memory they hold.
	kept      []*job
	keptBytes int64
	// endBy is until when a busy file is waited for once the store was closed; set when that is noticed.
	endBy time.Time
}

func (w *writer) run() {
	tick := time.NewTicker(renewTime)
	defer tick.Stop()
	for {
		var again <-chan time.Time
		if len(w.kept) > 0 {
			again = time.After(keptInterval)
		}
		select {
		case j, ok := <-w.jobs:
			if !ok {
				w.end()
				return
			}
			w.batch(j)
		case <-again:
			w.batch(nil)
		case <-tick.C:
			w.renew()
		}
	}
}

// end does what is left, as far as the file can be had soon.
func (w *writer) end() {
	if len(w.kept) > 0 {
		w.batch(nil)
	}
	for _, j := range w.kept {
		w.forgo(j, ErrClosed)
	}
	if w.base != nil {
		if err := w.change(endPatience, w.engine.dropLeases); err != nil {
			w.log.Debug("leases are left to expire", "error", err)
		}
		w.retire()
		if err := w.base.close(); err != nil {
			w.log.Warn("the session file did not close well", "error", err)
		}
	}
	w.engine.leave()
}

// change makes a change in a transaction of its own.
func (w *writer) change(patience time.Duration, change func(c *connection) error) error {
	if err := w.begin(patience); err != nil {
		return err
	}
	if err := change(w.base.connection); err != nil {
		w.base.rollback()
		return err
	}
	return w.base.commit()
}

// renew keeps the leases of this engine's chats, and gives back those that could not be before.
func (w *writer) renew() {
	if w.base == nil || w.base.path == "" || !w.engine.left {
		return
	}
	if err := w.change(retryPatience, w.renewal()); err != nil {
		w.log.Warn("the session leases could not be renewed", "error", reason(err, w.base.path))
	}
}

// renewal returns what a renewal does. When no chat has a session, and no job of one is left, nothing
// is kept. A chat hands over all its jobs before it leaves its queue.
func (w *writer) renewal() func(c *connection) error {
	if !w.queues.busy() && len(w.jobs) == 0 && len(w.kept) == 0 {
		return w.engine.dropLeases
	}
	return func(c *connection) error {
		var err error
		if len(w.kept) == 0 { // they may need a lease that is to be given back
			err = w.engine.releaseRest(c)
		}
		return errors.Join(err, w.engine.renewLeases(c, time.Now()))
	}
}

// scrub empties the write-ahead log after a deletion, as far as no reader is in the way.
func (w *writer) scrub() {
	if !w.base.scrub {
		return
	}
	w.base.scrub = false
	err := w.base.wait(retryPatience)
	if err == nil {
		err = w.base.script("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err = errors.Join(err, w.base.wait(busyStep)); err != nil {
		w.log.Debug("the write-ahead log could not be emptied", "error", err)
	}
}

// wait sets how long SQLite waits for a file that is busy.
func (c *connection) wait(patience time.Duration) error {
	return c.script(fmt.Sprintf("PRAGMA busy_timeout=%d", patience.Milliseconds()))
}
