package stdout

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sluice/internal/wire"
)

// retryInterval is the pause before the next try on an output that is full but does not block: a
// process that shares our terminal may have set O_NONBLOCK, which no wait of ours knows about.
const retryInterval = time.Millisecond

// Sink is the engine's stdout.
type Sink struct {
	out     io.Writer
	options Options
	// logDrops is set by New when drops are logged, so that they cost nothing when they are not.
	logDrops bool

	mu      sync.Mutex
	wake    sync.Cond // signalled when the idle writer has something to do
	replies mailbox   // guaranteed frames that may overtake; with Drop the one FIFO
	turns   turns     // with Coalesce: the requests that have something waiting
	pages   pages
	idle    bool // nobody writes: the writer waits for wake, or a producer may write itself
	direct  bool // a producer writes itself, and so owns piece
	closing bool // set by Close: the writer ends once nothing waits
	broken  bool // set by the writer: the reader has gone, everything is discarded
	// turnsFirst is set when no request found room in the last piece, beside the replies.
	turnsFirst bool
	writing    time.Time // when the write under way began; zero when there is none
	// piece is what is being written. It belongs to the one that writes: the writer, or a producer
	// while direct is set.
	piece piece
	rest  []byte // what a producer's own write left of piece; cleared by the writer, who goes on with it
	// followed is when the waiting batch whose way is measured arrived; zero when none is followed. An
	// entry of a mailbox is marked so.
	followed time.Time

	// Sums over what waits, in flight included: frames, and the costs of events and guaranteed frames.
	frames, events, guaranteed int64
	room                       chan struct{} // non-nil while Gate holds; closed when it opens
	drops                      []drop        // to be logged by the producer that caused them

	// Totals, for Stats.
	maxFrames, maxBytes       int64
	sent, merged, dropped     int64
	wroteFrames, wroteBatches int64
	stalls                    wire.StallStats

	wroteBytes atomic.Int64  // counted after each write call, read by Close to see progress
	gone       chan struct{} // closed when broken
	ended      chan struct{} // closed by Run
}

type drop struct {
	id    wire.ID
	event string
}

// New returns a sink that writes to out once Run runs.
func New(out io.Writer, options Options) *Sink {
	s := &Sink{out: out, options: options.withDefaults(), gone: make(chan struct{}), ended: make(chan struct{})}
	s.wake.L = &s.mu
	s.logDrops = s.options.Logger.Enabled(context.Background(), slog.LevelDebug)
	return s
}

// Run is the writer: it returns when Close was called and everything has been written or discarded.
func (s *Sink) Run() {
	defer close(s.ended)
	for s.exchange() {
		line := s.rest
		if s.rest = nil; line == nil {
			line = s.piece.render()
		}
		err := s.write(line)
		s.measure()
		if err != nil {
			s.breakOff(err)
			s.piece.reset()
		}
	}
}

// exchange settles the piece that was written, waits for something to write and takes it: what a
// producer's own write has left, or a new piece. It returns false at the end.
func (s *Sink) exchange() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleLocked()
	for s.direct || s.rest == nil && !s.waitingLocked() {
		if s.closing && !s.direct {
			return false
		}
		s.idle = !s.direct
		s.wake.Wait()
	}
	s.idle = false
	if s.rest == nil {
		s.composeLocked(&s.piece)
		s.writing = time.Now()
	}
	return true
}

func (s *Sink) waitingLocked() bool { return s.turns.front != nil || !s.replies.empty() }

// settleLocked takes a written piece off the sums.
func (s *Sink) settleLocked() {
	p := &s.piece
	if p.frames == 0 {
		return
	}
	s.endWriteLocked()
	s.frames -= p.frames
	s.events -= p.events
	s.guaranteed -= p.guaranteed
	s.wroteFrames += p.frames
	s.wroteBatches++
	p.reset()
	s.openLocked()
}

// write hands the line to the output, in several calls when the output takes less at once.
func (s *Sink) write(line []byte) error {
	for len(line) > 0 {
		n, err := s.out.Write(line)
		s.wroteBytes.Add(int64(n))
		line = line[n:]
		switch {
		case errors.Is(err, syscall.EAGAIN):
			time.Sleep(retryInterval)
		case n > 0 && errors.Is(err, io.ErrShortWrite):
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		}
	}
	return nil
}

// breakOff discards what waits: the reader has gone. From here on everything pushed is discarded.
func (s *Sink) breakOff(err error) {
	s.mu.Lock()
	s.broken = true
	s.followed = time.Time{}
	s.endWriteLocked()
	s.replies = mailbox{}
	for box := s.turns.front; box != nil; box = s.turns.front {
		s.turns.leave(box)
		*box = mailbox{}
	}
	s.frames, s.events, s.guaranteed = 0, 0, 0
	s.openLocked()
	close(s.gone)
	s.mu.Unlock()
	s.options.Logger.Error("ERROR_STACKTRACE", "where", "stdout", "error", err.Error(),
		"next", "the reader of stdout has gone; output is discarded, requests are still served")
}

// Gone is closed when a write has failed because the reader has gone.
func (s *Sink) Gone() <-chan struct{} { return s.gone }
