package stdout

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// script is an output that answers the i-th Write as steps[i] says, and takes everything after that.
type script struct {
	steps []step
	got   bytes.Buffer
	calls int
}

type step struct {
	take int // bytes taken; more than offered means all
	err  error
}

func (o *script) Write(p []byte) (int, error) {
	o.calls++
	if len(o.steps) == 0 {
		return o.got.Write(p)
	}
	next := o.steps[0]
	o.steps = o.steps[1:]
	n := min(next.take, len(p))
	o.got.Write(p[:n])
	return n, next.err
}

func TestAPartialWriteGoesOnWithTheRest(t *testing.T) {
	cases := map[string][]step{
		"short write":           {{take: 7, err: io.ErrShortWrite}, {take: 1, err: io.ErrShortWrite}},
		"fewer bytes, no error": {{take: 3}, {take: 40}},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				out := &script{steps: steps}
				s := New(out, Options{})
				l := s.Lane("1")
				mustPut(t, l, chunk("1", 0, "a"), event("1", 1, 200))
				mustFinish(t, l, counted("1", 2))
				go s.Run()
				if err := s.Close(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				if got := brief(parse(t, out.got.Bytes())); got != "1:chunk:0 1:event:1 1:final:2" {
					t.Error(got)
				}
				want := wire.WrittenStats{Frames: 3, Bytes: int64(out.got.Len()), Batches: 1}
				if got := s.Stats().Written; got != want || out.calls != 3 {
					t.Errorf("counted %+v, want %+v, after %d calls", got, want, out.calls)
				}
			})
		})
	}
}

// TestAnOutputThatWouldBlockIsTriedAgain: somebody else made the shared description non-blocking.
func TestAnOutputThatWouldBlockIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		full := step{err: &os.PathError{Op: "write", Err: syscall.EAGAIN}}
		some := step{take: 9, err: full.err}
		out := &script{steps: []step{full, some, full, some}}
		s := New(out, Options{})
		mustPut(t, s.Replies(), kept("r", 0), kept("r", 1))
		go s.Run()
		if err := s.Close(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if got := brief(parse(t, out.got.Bytes())); got != "r:kept:0 r:kept:1" || out.calls != 5 {
			t.Errorf("%s after %d calls", got, out.calls)
		}
	})
}

func TestABrokenOutputIsLoggedOnceAndDiscarded(t *testing.T) {
	cases := map[string]step{
		"broken pipe":              {err: syscall.EPIPE},
		"after some bytes":         {take: 5, err: syscall.EPIPE},
		"closed":                   {err: io.ErrClosedPipe},
		"takes nothing, no error":  {},
		"takes nothing, too short": {err: io.ErrShortWrite},
	}
	for name, failure := range cases {
		for _, policy := range []Policy{Coalesce, Drop} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) { testBroken(t, failure, policy) })
			})
		}
	}
}

func testBroken(t *testing.T, failure step, policy Policy) {
	var log strings.Builder
	out := &script{steps: []step{failure}}
	s := New(out, Options{Policy: policy, GuaranteedBytes: 10, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l := s.Lane("1")
	mustPut(t, l, chunk("1", 0, "a"), kept("1", 1))
	mustPut(t, s.Replies(), padded(wire.Guaranteed, "kept", "r", 0, pieceBytes))
	gate := make(chan error, 1)
	go func() { gate <- s.Gate(context.Background()) }()
	synctest.Wait()
	go s.Run()
	<-s.Gone()
	if err := <-gate; err != nil {
		t.Errorf("the gate: %v", err)
	}
	for n := range 10 {
		mustPut(t, l, chunk("1", 2+n, "b"), kept("1", 20+n))
		mustPut(t, s.Replies(), kept("r", n))
	}
	mustFinish(t, l, counted("1", 40))
	if err := s.Close(t.Context(), time.Second); err != nil {
		t.Errorf("Close: %v", err)
	}
	if out.calls != 1 {
		t.Errorf("the broken output was written to %d times", out.calls)
	}
	if n := strings.Count(log.String(), "msg=ERROR_STACKTRACE"); n != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log %q", log.String())
	}
	if q := s.Stats().Queue; q.Frames != 0 || q.Bytes != 0 {
		t.Errorf("still waiting: %+v", q)
	}
}

// TestTheLoggerMayAskTheSink: the sink's lock is free while it logs.
func TestTheLoggerMayAskTheSink(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		ask := &asking{ask: func() { asked++ }}
		s := New(&script{steps: []step{{err: syscall.EPIPE}}}, Options{PendingBytes: 10, Logger: slog.New(ask)})
		ask.ask = func() { s.Stats(); asked++ }
		mustPut(t, s.Lane("1"), event("1", 0, 100), kept("1", 1))
		go s.Run()
		if err := s.Close(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if asked != 2 {
			t.Errorf("%d records for one drop and one broken output", asked)
		}
	})
}

// asking is a log handler that calls ask for each record.
type asking struct{ ask func() }

func (a *asking) Enabled(context.Context, slog.Level) bool  { return true }
func (a *asking) Handle(context.Context, slog.Record) error { a.ask(); return nil }
func (a *asking) WithAttrs([]slog.Attr) slog.Handler        { return a }
func (a *asking) WithGroup(string) slog.Handler             { return a }

func TestAStallIsCountedWhileItLasts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{StallThreshold: time.Second})
		time.Sleep(999 * time.Millisecond)
		if got := s.Stats().Stalls; got.Count != 0 {
			t.Errorf("too early: %+v", got)
		}
		time.Sleep(time.Millisecond)
		if got := s.Stats().Stalls; got != (wire.StallStats{Count: 1, Time: time.Second}) {
			t.Errorf("during the stall: %+v", got)
		}
		time.Sleep(time.Second)
		w.take()
		time.Sleep(time.Hour)
		if got := s.Stats().Stalls; got != (wire.StallStats{Count: 1, Time: 2 * time.Second}) {
			t.Errorf("after the stall: %+v", got)
		}
		w.rest(t, s)
	})
}
