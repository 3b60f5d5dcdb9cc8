package host

import (
	"bytes"
	"context"
	"os"
	"sync"

	"sluice/bench/clock"
)

// readBytes is the most that one read asks for: four times what a pipe holds.
const readBytes = 256 << 10

// reader reads a program's output until its end and hands on whole lines.
type reader struct {
	output *os.File // owned by the reading goroutine, which closes it
	ended  chan struct{}

	mu    sync.Mutex // held while a LineReader runs
	lines LineReader
	pace  Pace
}

func startReader(ctx context.Context, output *os.File, lines LineReader, pace Pace) *reader {
	r := &reader{output: output, ended: make(chan struct{})}
	r.listen(lines, pace)
	go r.run(ctx)
	return r
}

func (r *reader) listen(lines LineReader, pace Pace) {
	if pace == nil {
		pace = Fast{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.pace = lines, pace
}

func (r *reader) currentPace() Pace {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pace
}

func (r *reader) deliver(block []byte, at int64) {
	if len(block) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines.ReadLines(block, at)
}

// run keeps an unfinished line at the start of the buffer, which grows as long as the line does.
func (r *reader) run(ctx context.Context) {
	defer close(r.ended)
	defer r.output.Close()
	buffer := make([]byte, readBytes)
	filled := 0
	for {
		limit := r.currentPace().Wait(ctx)
		if len(buffer)-filled < readBytes/2 {
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
		n, err := r.output.Read(buffer[filled:][:min(limit, readBytes, len(buffer)-filled)])
		at := clock.Now()
		whole := filled + bytes.LastIndexByte(buffer[filled:filled+n], '\n') + 1
		filled += n
		if whole > filled-n {
			r.deliver(buffer[:whole], at)
			filled = copy(buffer, buffer[whole:filled])
		}
		if err != nil {
			r.deliver(buffer[:filled], clock.Now())
			return
		}
	}
}
