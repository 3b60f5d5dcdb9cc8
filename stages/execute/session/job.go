package session

import (
	"context"
	"sync/atomic"

	"sluice/internal/wire"
)

// job is one piece of work for the writer. It reports errors of its own, those that aren't the
// database's, before it has changed anything: other jobs share the transaction.
type job struct {
	// run may be called again when the transaction failed or the file was replaced; what it sets counts
	// from the last time. Its caller may be gone by then: what that goes on to use is set with remember,
	// or read only once the job was answered. Nil when a database is to be opened, no more.
	run  func(b *base) error
	done chan error // has room for the one answer
	// stays says that the writer goes on with the job when its caller has given up; else a caller takes
	// it back unless it is being done.
	stays   bool
	turn    *wire.Turn  // what a job that stays holds on to; nobody changes it once the caller gave up
	release *held       // set when the job gives a lease back
	took    atomic.Bool // set by the writer or by a caller that takes it back, whoever is first
	// parted is set by a caller that gives up, or by the writer before it answers that the file is busy,
	// whoever is first.
	parted atomic.Bool
}

// do has the writer run a function inside a transaction, and waits for it until ctx ends. After that
// the function may still run or not.
func (s *Store) do(ctx context.Context, run func(b *base) error) error {
	return s.hand(ctx, &job{run: run, done: make(chan error, 1)})
}

// ask is do for a function that returns something.
func ask[T any](ctx context.Context, s *Store, run func(b *base) (T, error)) (T, error) {
	var answer, none T
	if err := s.do(ctx, func(b *base) (err error) {
		answer, err = run(b)
		return err
	}); err != nil {
		return none, err // the answer may be the writer's still
	}
	return answer, nil
}

// hand gives a job to the writer and waits for its answer until ctx ends.
func (s *Store) hand(ctx context.Context, j *job) error {
	if err := s.send(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
	}
	switch {
	case len(j.done) > 0: // it was answered meanwhile
		return <-j.done
	case !j.stays:
		j.took.CompareAndSwap(false, true)
	case !j.parted.CompareAndSwap(false, true):
		return <-j.done // the writer is about to answer
	}
	return context.Cause(ctx)
}

// giveBack has the writer give a lease back behind all else of the chat, which doesn't wait for it.
func (s *Store) giveBack(h held) {
	j := &job{release: &h, stays: true, done: make(chan error, 1), run: func(b *base) error {
		return b.engine.dropLease(b.connection, h.key, h.token)
	}}
	j.parted.Store(true)
	s.ensureStarted()
	if s.trySend(j) {
		return
	}
	go func() { _ = s.send(context.Background(), j) }() // a store that is closed gives back all
}

// send hands a job to the writer, which the first one starts; also with a ctx that has ended, when
// there is room.
func (s *Store) send(ctx context.Context, j *job) error {
	s.ensureStarted()
	if s.trySend(j) {
		return nil
	}
	s.sending.RLock()
	defer s.sending.RUnlock()
	if s.closed {
		return ErrClosed
	}
	select {
	case s.jobs <- j:
		return nil
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Store) trySend(j *job) bool {
	s.sending.RLock()
	defer s.sending.RUnlock()
	if s.closed {
		return false
	}
	select {
	case s.jobs <- j:
		return true
	default:
		return false
	}
}

// remember sets what a job keeps in memory; it is as before again when the transaction fails. Only the
// writer uses such places.
func remember[T any](b *base, place *T, value T) {
	before := *place
	b.undo = append(b.undo, func() { *place = before })
	*place = value
}

// turnBytes is about how much memory a turn takes.
func turnBytes(t *wire.Turn) int64 {
	if t == nil {
		return 0
	}
	n := len(t.Input) + len(t.Response)
	for i := range t.Steps {
		n += len(t.Steps[i].Text)
		for c := range t.Steps[i].Calls {
			call := &t.Steps[i].Calls[c]
			if n += len(call.Arguments); call.Result != nil {
				n += len(call.Result.Text)
			}
		}
	}
	return int64(n)
}
