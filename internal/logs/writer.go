package logs

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// maxPending bounds, in bytes, the lines that wait, those in flight included.
	maxPending = 1 << 20
	// maxWrite is the most bytes that one write takes, unless a single line is longer: about what
	// a pipe holds, so that a slow reader is seen early.
	maxWrite = 64 << 10
)

// Writer hands whole lines to a destination that may be slow, blocked or gone. Its methods may be
// called from any goroutine.
type Writer struct {
	destination io.Writer // written to by run alone
	lossLine    func(lost int64) []byte
	torn        bool          // the last write ended within a line; run alone
	done        chan struct{} // closed by run when it ends

	mu       sync.Mutex
	wake     sync.Cond // signalled for run when lines, losses or closed come
	pending  []byte    // whole lines, in order
	inFlight int       // bytes of the write under way
	full     bool      // a line found no room; no line is taken until pending is empty
	broken   bool      // the last write failed; the next line tries again
	lost     int64     // lines lost in all
	untold   int64     // lines lost of which no line has told yet
	closed   bool      // set by Close: no further line is taken
	gone     bool      // set by an expired Close: run ends with the write it is in
}

// NewWriter starts a Writer. lossLine renders the line that tells how many are missing where it
// stands, with its line end; nil tells nothing.
func NewWriter(destination io.Writer, lossLine func(lost int64) []byte) *Writer {
	w := &Writer{destination: destination, lossLine: lossLine, done: make(chan struct{})}
	w.wake.L = &w.mu
	go w.run()
	return w
}

// Write takes p, whole lines as slog's handlers write them, and returns at once. Lines without room
// are lost, and so are those that follow until all that waits is written: one gap that one line can
// tell of. It always reports success, for a log must not fail its callers. p is copied.
func (w *Writer) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = w.full || w.inFlight+len(w.pending)+len(p) >= maxPending
	if w.closed || w.full {
		w.loseLocked(p)
		w.wake.Signal() // a line longer than all room is lost while nothing else wakes run
		return len(p), nil
	}
	w.pending = append(w.pending, p...)
	if p[len(p)-1] != '\n' {
		w.pending = append(w.pending, '\n')
	}
	w.wake.Signal()
	return len(p), nil
}

// Lost returns how many lines were lost so far: those without room, those after Close, and those
// that a failed write or an expired Close left unwritten.
func (w *Writer) Lost() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Close takes no more lines and waits at most timeout for those that wait to be written; what isn't
// then is lost. It may be called again.
func (w *Writer) Close(timeout time.Duration) {
	w.mu.Lock()
	w.closed = true
	w.wake.Signal()
	w.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-w.done:
	case <-timer.C:
		w.abandon()
	}
}

// abandon gives up what waits, so that run ends with the write it is in.
func (w *Writer) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loseLocked(w.pending)
	w.pending, w.gone = nil, true
}

func (w *Writer) loseLocked(lines []byte) {
	count := countLines(lines)
	w.lost += count
	w.untold += count
}

// countLines counts lines; the last one counts without its line end.
func countLines(lines []byte) int64 {
	count := int64(bytes.Count(lines, []byte{'\n'}))
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		count++
	}
	return count
}
