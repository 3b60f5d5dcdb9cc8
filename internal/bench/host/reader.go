package host

import (
	"bytes"
	"context"
	"os"
	"sync"

	"sluice/internal/bench/clock"
)

// readBytes is the most that one read asks for: four times what a pipe holds.
const readBytes = 256 << 10

// reader reads a program's output until its end, or until its pace goes away, and hands on whole lines.
type reader struct {
	output *os.File // owned by the reading goroutine, which closes it
	ended  chan struct{}
	ctx    context.Context // ends the waits of all paces

	mu    sync.Mutex // held while a LineReader runs
	lines LineReader

	paceMu  sync.Mutex // held only to look, so that a pace changes while a LineReader runs
	pace    Pace
	paceCtx context.Context // ends the wait of this pace
	endPace context.CancelFunc
}

func startReader(ctx context.Context, output *os.File, lines LineReader, pace Pace) *reader {
	r := &reader{output: output, ended: make(chan struct{}), ctx: ctx}
	r.listen(lines)
	r.setPace(pace)
	go r.run()
	return r
}

func (r *reader) listen(lines LineReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = lines
}

func (r *reader) setPace(pace Pace) {
	if pace == nil {
		pace = Fast{}
	}
	r.paceMu.Lock()
	defer r.paceMu.Unlock()
	if r.endPace != nil {
		r.endPace()
	}
	r.pace = pace
	r.paceCtx, r.endPace = context.WithCancel(r.ctx)
}

// wait returns how many bytes the pace takes now. A pace that was replaced meanwhile is not asked.
func (r *reader) wait(taken int) int {
	for {
		r.paceMu.Lock()
		pace, ctx := r.pace, r.paceCtx
		r.paceMu.Unlock()
		limit := pace.Wait(ctx, taken)
		if ctx.Err() == nil || r.ctx.Err() != nil {
			return limit
		}
		taken = 0 // the next pace hasn't taken it
	}
}

func (r *reader) deliver(block []byte, at int64) {
	if len(block) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines.ReadLines(block, at)
}

func (r *reader) release() {
	r.output.Close()
	r.paceMu.Lock()
	r.endPace()
	r.paceMu.Unlock()
	close(r.ended)
}

// run keeps an unfinished line at the start of the buffer, which grows as long as the line does.
func (r *reader) run() {
	defer r.release()
	buffer := make([]byte, readBytes)
	filled, taken := 0, 0
	for {
		limit := r.wait(taken)
		if limit == 0 {
			return
		}
		if len(buffer)-filled < readBytes/2 {
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
		n, err := r.output.Read(buffer[filled:][:min(limit, readBytes, len(buffer)-filled)])
		at := clock.Now()
		taken = n
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
