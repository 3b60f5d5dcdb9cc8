package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sluice/internal/wire"
)

// Session is one session while one chat has it. It belongs to the chat's goroutine.
//
// It keeps the running turn in memory, too: when a write failed, or the file was replaced by a new
// one, the next write stores the whole turn. A write whose ctx ends while the file is busy is left to
// the writer, which goes on trying behind the chat.
type Session struct {
	store *Store
	key
	token    int64
	notices  int            // how many notices of the store are older than the session
	warnings []string       // of its own
	aside    map[int64]bool // the turns that a warning tells of
	closed   bool

	// turn is the one that runs, as far as the caller has told; nil when none does. Its ID is the
	// caller's.
	turn *wire.Turn
	// row is the turn's id in the file when it was last stored, 0 before that. stale says that what is
	// there is not all that should be.
	row   int64
	stale bool
	// place is where the turn is stored; the writer reads and sets it.
	place *place
	// generation is that of the database in which the session has its lease, 0: in none. It is the
	// writer's.
	generation int64
}

const unstorable = "the session can't be stored"

// Open waits until the session belongs to this chat alone, in this engine and in all others that share
// the file. waiting, which may be nil, is called once before it waits, only when it does. The only
// error is the cause of ctx, or ErrClosed. The caller closes the session.
func (s *Store) Open(ctx context.Context, user, session string, waiting func()) (*Session, error) {
	wait := sync.OnceFunc(func() {
		if waiting != nil {
			waiting()
		}
	})
	k := key{user, session}
	if err := s.queues.join(ctx, k, wait); err != nil {
		return nil, err
	}
	s.mu.RLock()
	opened := &Session{store: s, key: k, token: s.tokens.Add(1), notices: len(s.notices)}
	s.mu.RUnlock()
	err := told(ctx, opened.acquire(ctx, wait), unstorable, s.file())
	switch {
	case err == nil:
	case ctx.Err() != nil: // the lease may yet be taken
		opened.Close()
		return nil, context.Cause(ctx)
	case errors.Is(err, ErrClosed):
		s.queues.leave(k)
		return nil, err
	default:
		opened.warn(err.Error())
	}
	return opened, nil
}

// acquire takes the session's lease, which another engine may have.
func (s *Session) acquire(ctx context.Context, waiting func()) error {
	pause := pollFirst
	for {
		err := s.tryAcquire(ctx)
		if !errors.Is(err, errHeld) {
			return err
		}
		waiting()
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		pause = min(2*pause, pollMost)
	}
}

func (s *Session) tryAcquire(ctx context.Context) error {
	return s.store.do(ctx, func(b *base) error {
		err := b.engine.takeLease(b.connection, s.key, s.token, time.Now())
		if err == nil {
			remember(b, &s.generation, b.generation)
		}
		return err
	})
}

// Close lets the next chat have the session. It may be called more than once.
func (s *Session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.store.giveBack(held{s.key, s.token})
	s.store.queues.leave(s.key)
}

// Warnings tells what was found damaged and set aside, or why nothing is stored.
func (s *Session) Warnings() []string {
	return append(s.store.since(s.notices), s.warnings...)
}

func (s *Session) warn(text string) {
	if !slices.Contains(s.warnings, text) {
		s.warnings = append(s.warnings, text)
	}
}
