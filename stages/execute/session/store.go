package session

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pollFirst = 20 * time.Millisecond
	pollMost  = 250 * time.Millisecond
)

// Options are what a store works with.
type Options struct {
	// Dir is the folder of the file, app.data_dir. Empty: sessions are kept in memory.
	Dir string
	// MemoryBytes is about how much is kept in memory where no file can be used; 0 stands for 64 MiB.
	// The oldest turns are forgotten.
	MemoryBytes int64
	// Inspect is for a command that looks at a folder which engines may be using: no file is made, and
	// none repaired or set aside; what is wrong is an error. Open isn't for such a store.
	Inspect bool
	Logger  *slog.Logger
}

// Store keeps the sessions of one folder. It is safe for concurrent use.
type Store struct {
	options Options
	// patience is busyPatience but in tests.
	patience time.Duration
	queues   queues
	tokens   atomic.Int64
	jobs     chan *job
	done     chan struct{} // closed when the writer has ended

	start sync.Once

	// closing is closed by the first Close, before jobs.
	closing chan struct{}
	ending  sync.Once
	// sending is held for reading while something is sent to jobs, and for writing to close it.
	sending sync.RWMutex
	closed  bool // guarded by sending
	started bool // guarded by sending

	// mu is held for reading while base is read from, and for writing while it is replaced.
	mu      sync.RWMutex
	base    *base    // nil before the first use and while there is none
	notices []string // what was ever to be told, oldest first
	// standing is to be told to every session: why the database is in memory.
	standing string
}

// New returns a store that has opened nothing yet.
func New(options Options) *Store {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	options.MemoryBytes = cmp.Or(options.MemoryBytes, defaultMemoryBytes)
	return &Store{
		options: options, patience: busyPatience,
		jobs: make(chan *job, maxWaiting), done: make(chan struct{}), closing: make(chan struct{}),
	}
}

// Close ends the store after its sessions were closed, and waits for that until ctx ends: what chats left
// to do is done unless another engine holds the file for longer than a moment. It may be called more
// than once.
func (s *Store) Close(ctx context.Context) error {
	s.ending.Do(func() { close(s.closing) }) // who waits to send gives up
	s.sending.Lock()
	if !s.closed {
		s.closed = true
		close(s.jobs)
		if !s.started {
			close(s.done)
		}
	}
	s.sending.Unlock()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Store) ensureStarted() {
	s.start.Do(func() {
		s.sending.Lock()
		defer s.sending.Unlock()
		if s.closed {
			return
		}
		s.started = true
		w := &writer{
			options: s.options, log: s.options.Logger, engine: engine{id: randomName()},
			queues: &s.queues, jobs: s.jobs, closing: s.closing, patience: s.patience, publish: s.publish, retire: s.retire,
		}
		go func() {
			defer close(s.done)
			w.run()
		}()
	})
}

func (s *Store) publish(b *base, notices []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = b
	s.notices = append(s.notices, notices...)
	s.standing = ""
	if b.path == "" {
		s.standing = notices[len(notices)-1]
	}
}

func (s *Store) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = nil
}

// since returns what is to be told beyond the first n notices.
func (s *Store) since(n int) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	notices := slices.Clone(s.notices[n:])
	if s.standing != "" && !slices.Contains(notices, s.standing) {
		notices = append(notices, s.standing)
	}
	return notices
}

// file names the file in messages; it returns "" when there is none but memory.
func (s *Store) file() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.standing != "" {
		return ""
	}
	return filepath.Join(s.options.Dir, fileName)
}
