package observe

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/wire"
)

const (
	// recentKept is how many stalls are remembered.
	recentKept = 20
	// logInterval is the least time between two lines of one cause: a model that takes a second for
	// each token stalls with every one.
	logInterval = time.Second
)

// Stalls logs stalls and remembers the last of them. The zero value logs nothing.
type Stalls struct {
	// Logger gets a line for each stall, but at most one a second and cause.
	Logger *slog.Logger
	// Recorder, when set, keeps a trace of what led to a stall; the line names it.
	Recorder *Recorder

	mu     sync.Mutex
	recent []wire.Stall // oldest first
	lines  map[wire.Cause]*lines
}

// lines is what was logged of one cause.
type lines struct {
	last     time.Time
	unlogged int // since then
}

// Add takes a stall in. It doesn't wait.
func (s *Stalls) Add(stall wire.Stall) {
	unlogged, logged := s.remember(stall)
	if !logged || s.Logger == nil {
		return
	}
	if s.Recorder == nil || !s.Recorder.explain(stall, func(trace string) { s.log(stall, unlogged, trace) }) {
		s.log(stall, unlogged, "")
	}
}

// remember reports whether the stall is to be logged, and how many were not since the last that was.
func (s *Stalls) remember(stall wire.Stall) (unlogged int, logged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) == recentKept {
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	s.recent = append(s.recent, stall)
	if s.lines == nil {
		s.lines = map[wire.Cause]*lines{}
	}
	of := s.lines[stall.Cause]
	if of == nil {
		of = &lines{}
		s.lines[stall.Cause] = of
	}
	if !of.last.IsZero() && stall.Ended.Sub(of.last) < logInterval {
		of.unlogged++
		return 0, false
	}
	unlogged, of.unlogged, of.last = of.unlogged, 0, stall.Ended
	return unlogged, true
}

// Recent returns the last stalls, oldest first.
func (s *Stalls) Recent() []wire.Stall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wire.Stall(nil), s.recent...)
}

// messages are the log lines' names, for those who look for them. A slow model is no fault of anybody's.
var messages = map[wire.Cause]struct {
	level slog.Level
	name  string
}{
	wire.CauseReader:   {slog.LevelWarn, "STDIO_WRITER_STALL"},
	wire.CauseUpstream: {slog.LevelInfo, "UPSTREAM_STALL"},
	wire.CauseEngine:   {slog.LevelWarn, "ENGINE_STALL"},
}

func (s *Stalls) log(stall wire.Stall, unlogged int, trace string) {
	message := messages[stall.Cause]
	attributes := []slog.Attr{
		slog.Int64("ms", stall.Took.Milliseconds()),
		slog.String("cause", string(stall.Cause)),
		slog.Int64("queue_frames", stall.Frames),
		slog.Int64("queue_bytes", stall.Bytes),
		slog.String("request", string(wire.AppendID(nil, stall.Request, false))),
	}
	if unlogged > 0 {
		attributes = append(attributes, slog.Int("unlogged", unlogged))
	}
	if trace != "" {
		attributes = append(attributes, slog.String("trace", trace))
	}
	s.Logger.LogAttrs(context.Background(), message.level, message.name, attributes...)
}
