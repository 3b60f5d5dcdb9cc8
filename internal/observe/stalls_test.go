package observe

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func logged(level slog.Level) (*bytes.Buffer, *slog.Logger) {
	var log bytes.Buffer
	strip := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return &log, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level, ReplaceAttr: strip}))
}

func TestStallLines(t *testing.T) {
	log, logger := logged(slog.LevelInfo)
	s := &Stalls{Logger: logger}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(after time.Duration, cause wire.Cause, request wire.ID) {
		s.Add(wire.Stall{Cause: cause, Took: 300 * time.Millisecond, Ended: start.Add(after), Request: request, Frames: 4, Bytes: 5})
	}
	add(0, wire.CauseReader, "7")
	add(10, wire.CauseUpstream, "8") // causes have lines of their own
	add(20, wire.CauseEngine, "")
	add(time.Second-1, wire.CauseReader, "9")
	add(time.Second-1, wire.CauseReader, "9")
	add(time.Second, wire.CauseReader, "10")
	add(2*time.Second, wire.CauseReader, "11")
	want := `level=WARN msg=STDIO_WRITER_STALL ms=300 cause=reader queue_frames=4 queue_bytes=5 request=7
level=INFO msg=UPSTREAM_STALL ms=300 cause=upstream queue_frames=4 queue_bytes=5 request=8
level=WARN msg=ENGINE_STALL ms=300 cause=engine queue_frames=4 queue_bytes=5 request=null
level=WARN msg=STDIO_WRITER_STALL ms=300 cause=reader queue_frames=4 queue_bytes=5 request=10 unlogged=2
level=WARN msg=STDIO_WRITER_STALL ms=300 cause=reader queue_frames=4 queue_bytes=5 request=11
`
	if log.String() != want {
		t.Errorf("got\n%swant\n%s", log, want)
	}
	if got := s.Recent(); len(got) != 7 || got[6].Request != "11" {
		t.Errorf("%d are remembered", len(got))
	}
}

// TestRecentStalls are the last twenty, and a copy.
func TestRecentStalls(t *testing.T) {
	var s Stalls
	for i := range 25 {
		s.Add(wire.Stall{Cause: wire.CauseReader, Bytes: int64(i)})
	}
	got := s.Recent()
	if len(got) != recentKept || got[0].Bytes != 5 || got[19].Bytes != 24 {
		t.Errorf("got %+v", got)
	}
	got[0].Bytes = -1
	if s.Recent()[0].Bytes != 5 {
		t.Error("it is no copy")
	}
}

// TestStallLinesBelowTheLevel are not written.
func TestStallLinesBelowTheLevel(t *testing.T) {
	log, logger := logged(slog.LevelWarn)
	s := &Stalls{Logger: logger}
	s.Add(wire.Stall{Cause: wire.CauseUpstream})
	s.Add(wire.Stall{Cause: wire.CauseEngine})
	if got := log.String(); strings.Contains(got, "UPSTREAM") || !strings.Contains(got, "ENGINE_STALL") {
		t.Errorf("got %s", got)
	}
}
