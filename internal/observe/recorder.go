package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"time"

	"sluice/internal/wire"
)

const (
	traceFolder = "traces"
	// tracesKept is how many traces the folder may hold.
	tracesKept = 10
	// traceInterval is the least time between two traces: one of a busy engine has some megabytes.
	traceInterval = time.Minute
	// traceAge is how far back a trace goes at least, and traceBytes about how much it holds at most.
	traceAge   = 10 * time.Second
	traceBytes = 16 << 20
	// stallsWaiting bounds the stalls that wait for the writing of a trace; more have none.
	stallsWaiting = 16
)

// Recorder keeps the last seconds of the engine's execution trace and writes them to a file when a
// stall is seen. One may run in a process. Its goroutine looks for stalls while they last, so that a
// trace shows how one began.
type Recorder struct {
	folder string
	flight *trace.FlightRecorder
	logger *slog.Logger
	stalls chan waitingStall
	stop   chan struct{} // closed by Close
	ended  chan struct{} // closed by the goroutine, last; nil before Watch

	// The goroutine's own.
	counted int64     // stalls seen so far
	path    string    // of the last trace; empty before the first
	written time.Time // when it was written
	tried   time.Time // when the last one was tried, whether or not it could be written
}

type waitingStall struct {
	wire.Stall
	log func(trace string)
}

// Record starts a recorder whose traces go to the data folder. The error says what it needs.
func Record(dataDir string, logger *slog.Logger) (*Recorder, error) {
	if dataDir == "" {
		return nil, errors.New("it needs a place for its traces; set app.data_dir")
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	folder, err := privateFolder(dataDir, traceFolder)
	if err != nil {
		return nil, fmt.Errorf("its traces can't be written (%v); set app.data_dir to a folder that can be", err)
	}
	r := &Recorder{
		folder: folder,
		flight: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: traceAge, MaxBytes: traceBytes}),
		logger: logger,
		stalls: make(chan waitingStall, stallsWaiting),
		stop:   make(chan struct{}),
	}
	if err := r.flight.Start(); err != nil {
		return nil, fmt.Errorf("it can't start (%v); switch it off", err)
	}
	return r, nil
}

// Watch looks for stalls of at least the threshold until Close: seen counts those so far, the ones under
// way included. It is called once.
func (r *Recorder) Watch(threshold time.Duration, seen func() int64) {
	r.ended = make(chan struct{})
	go r.run(max(threshold/2, time.Millisecond), seen)
}

// Close ends the recorder, once no stall comes any more. Those that wait are logged; no trace is written
// for them. It is called once.
func (r *Recorder) Close() {
	close(r.stop)
	if r.ended != nil {
		<-r.ended
	}
	r.drain()
	r.flight.Stop()
}

// explain has log called with the path of the trace that shows the stall, empty when there is none. It
// is false when it won't be called, and never waits.
func (r *Recorder) explain(stall wire.Stall, log func(trace string)) bool {
	select {
	case r.stalls <- waitingStall{stall, log}:
		return true
	default:
		return false
	}
}

func (r *Recorder) run(interval time.Duration, seen func() int64) {
	defer close(r.ended)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case stall := <-r.stalls:
			stall.log(r.traceOf(stall.Stall))
		case <-tick.C:
			r.look(seen())
		case <-r.stop:
			return
		}
	}
}

func (r *Recorder) drain() {
	for {
		select {
		case stall := <-r.stalls:
			stall.log(r.known(stall.Stall))
		default:
			return
		}
	}
}

// look writes a trace when a stall was seen that wasn't before.
func (r *Recorder) look(seen int64) {
	if seen > r.counted {
		r.write(time.Now())
	}
	r.counted = seen
}

// traceOf returns the trace that was written since the stall began, or one that is written now.
func (r *Recorder) traceOf(stall wire.Stall) string {
	if r.known(stall) == "" {
		r.write(time.Now())
	}
	return r.known(stall)
}

// known returns the trace that was written since the stall began; empty when there is none.
func (r *Recorder) known(stall wire.Stall) string {
	if r.written.Before(stall.Ended.Add(-stall.Took)) {
		return ""
	}
	return r.path
}

// write writes what was recorded, unless the last try is too young: a disk that is full is not tried
// again with every stall.
func (r *Recorder) write(now time.Time) {
	if !r.tried.IsZero() && now.Sub(r.tried) < traceInterval {
		return
	}
	r.tried = now
	path, err := r.save(now)
	if err != nil {
		r.logger.Warn("a trace could not be written", "error", err.Error())
		return
	}
	r.logger.Info("a stall's trace was written", "trace", path) // whether or not the stall ever ends
	r.path, r.written = path, now
	removeOldest(r.folder, tracesKept)
}

// save writes a trace under a name by which traces of all engines sort by time.
func (r *Recorder) save(now time.Time) (string, error) {
	name := fmt.Sprintf("%s-%d.trace", now.UTC().Format("20060102T150405.000"), os.Getpid())
	path := filepath.Join(r.folder, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = r.flight.WriteTo(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// removeOldest leaves so many traces.
func removeOldest(folder string, keep int) {
	entries, err := os.ReadDir(folder) // sorted by name, and so by time
	if err != nil {
		return
	}
	traces := slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".trace") })
	for _, old := range traces[:max(len(traces)-keep, 0)] {
		_ = os.Remove(filepath.Join(folder, old.Name()))
	}
}
