package logs

import "bytes"

// batch is what one write takes: lines, or the line that tells of lost ones.
type batch struct {
	lines []byte
	tells int64 // lost lines that it tells of; 0 for ordinary lines
}

// run makes every write. It ends when the Writer is closed and nothing is left to be written.
func (w *Writer) run() {
	defer close(w.done)
	var spare []byte
	for {
		b, more := w.next(spare[:0])
		if !more {
			return
		}
		spare = b.lines
		w.written(b, w.write(b.lines))
	}
}

// write returns how many bytes of lines the destination took. A line that an earlier failure cut is
// ended first, lest the next one be glued to it.
func (w *Writer) write(lines []byte) int {
	if w.torn {
		if n, err := w.destination.Write([]byte{'\n'}); err != nil || n != 1 {
			return 0
		}
		w.torn = false
	}
	n, _ := w.destination.Write(lines) // the error is known by the count
	n = min(max(n, 0), len(lines))
	w.torn = n > 0 && lines[n-1] != '\n'
	return n
}

// next waits for something to write; false ends run. Lines go to room, which it returns.
func (w *Writer) next(room []byte) (batch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = w.full && len(w.pending) > 0
	for len(w.pending) == 0 && !w.closed && !w.mustTellLocked() {
		w.wake.Wait()
		w.full = w.full && len(w.pending) > 0
	}
	if w.gone {
		return batch{}, false
	}
	// Lost lines are younger than what waits while full is set, and older otherwise.
	if !w.full && (w.mustTellLocked() || len(w.pending) > 0 && w.canTellLocked()) {
		told := w.untold
		w.untold = 0
		return batch{lines: append(room, w.lossLine(told)...), tells: told}, true
	}
	if len(w.pending) == 0 {
		return batch{}, false
	}
	end := wholeLines(w.pending, maxWrite)
	room = append(room, w.pending[:end]...)
	w.pending = w.pending[:copy(w.pending, w.pending[end:])]
	w.inFlight = len(room)
	return batch{lines: room}, true
}

func (w *Writer) canTellLocked() bool { return w.untold > 0 && w.lossLine != nil }

// mustTellLocked: a loss is told unasked, but a destination that failed is left alone until a line
// comes.
func (w *Writer) mustTellLocked() bool { return w.canTellLocked() && !w.broken }

// written accounts for a write of which n bytes arrived. After a failure all that waits is lost too:
// it would only fail again, and run must not spin.
func (w *Writer) written(b batch, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight = 0
	w.broken = n < len(b.lines)
	if !w.broken {
		return
	}
	if b.tells > 0 {
		w.untold += b.tells
	} else {
		w.loseLocked(b.lines[n:])
	}
	w.loseLocked(w.pending)
	w.pending = w.pending[:0]
}

// wholeLines returns how many bytes of lines to write at once: as many lines as limit holds, but one
// at least. lines ends with a line end.
func wholeLines(lines []byte, limit int) int {
	if len(lines) <= limit {
		return len(lines)
	}
	if end := bytes.LastIndexByte(lines[:limit], '\n'); end >= 0 {
		return end + 1
	}
	return bytes.IndexByte(lines, '\n') + 1
}
