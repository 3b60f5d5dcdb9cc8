package stdout

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestCloseWaitsForWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		mustFinish(t, s.Lane("1"), final("1", 0))
		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.Background(), 0) }()
		time.Sleep(time.Minute)
		if got := brief(parse(t, append(w.take(), w.take()...))); got != "first:kept:0 1:final:0" {
			t.Error(got)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseGivesUpOnAReaderThatTakesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		mustFinish(t, s.Lane("1"), final("1", 0))
		waiting := s.Stats().Queue
		start := time.Now()
		err := s.Close(context.Background(), 3*time.Second)
		if !errors.Is(err, ErrGivenUp) || !strings.Contains(err.Error(), "2 frames, ") {
			t.Errorf("Close returned %v with %+v waiting", err, waiting)
		}
		if took := time.Since(start); took < 3*time.Second || took > 3*time.Second+2*progressInterval {
			t.Errorf("gave up after %v", took)
		}
		w.take()
		w.take()
	})
}

func TestCloseIsPatientWithASlowReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var unread atomic.Int64
		unread.Store(1000)
		s, w := blocked(t, Options{Unread: func() (int, bool) { return int(unread.Load()), true }})
		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.Background(), 3*time.Second) }()
		for range 100 { // one byte every two seconds, all within one blocked write
			time.Sleep(2 * time.Second)
			unread.Add(-1)
		}
		w.take()
		if err := <-closed; err != nil {
			t.Errorf("gave a reader up that took a byte now and then: %v", err)
		}
	})
}

// TestPatienceStartsAnewWithEachByte: it is the time since the last one.
func TestPatienceStartsAnewWithEachByte(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var unread atomic.Int64
		s, w := blocked(t, Options{Unread: func() (int, bool) { return int(unread.Load()), true }})
		start := time.Now()
		time.AfterFunc(2*time.Second, func() { unread.Store(1) })
		err := s.Close(context.Background(), 3*time.Second)
		if took := time.Since(start); !errors.Is(err, ErrGivenUp) || took < 5*time.Second || took > 6*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		w.take()
	})
}

func TestCloseEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		if err := s.Close(ctx, time.Hour); !errors.Is(err, ErrGivenUp) || time.Since(start) != 2*time.Second {
			t.Errorf("after %v Close returned %v", time.Since(start), err)
		}
		w.take()
		if err := s.Close(ctx, time.Hour); err != nil {
			t.Errorf("nothing is left, but Close returned %v", err)
		}
	})
}

func TestStuckIsAHeldGateWithoutProgress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var unread atomic.Int64
		s, w := blocked(t, Options{GuaranteedBytes: 1, Unread: func() (int, bool) { return int(unread.Load()), true }})
		start := time.Now()
		time.AfterFunc(2*time.Second, func() { unread.Store(1) })
		if !s.Stuck(t.Context(), 3*time.Second) {
			t.Error("not stuck")
		}
		if took := time.Since(start); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("stuck after %v", took)
		}
		w.take()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if s.Stuck(ctx, 3*time.Second) {
			t.Error("stuck though the gate is open")
		}
		w.rest(t, s)
	})
}
