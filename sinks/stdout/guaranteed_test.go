package stdout

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

func TestGuaranteedFramesAreNeverDropped(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			s, w := blocked(t, Options{Policy: policy, PendingBytes: 1, QueueFrames: 1})
			for n := range 1000 {
				mustPut(t, s.Replies(), kept("r", n))
				mustFinish(t, s.Lane("l"), final("l", n))
			}
			w.take()
			got := map[string]int{}
			for _, l := range parse(t, bytes.Join(w.rest(t, s), nil)) {
				if l.N != got[l.R] {
					t.Fatalf("policy %d: answer %d of %s after %d others", policy, l.N, l.R, got[l.R])
				}
				got[l.R]++
			}
			if got["r"] != 1000 || got["l"] != 1000 {
				t.Errorf("policy %d: %v answers", policy, got)
			}
		})
	}
}

func TestGateHoldsWhileGuaranteedFramesWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{GuaranteedBytes: 10_000})
		replies := s.Replies()
		for n := range 9 {
			if err := s.Gate(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustPut(t, replies, padded(wire.Guaranteed, "kept", "r", n, 1100))
		}
		// The first reply, in flight, and nine others make 9,9xx bytes; this one reaches the bound.
		mustPut(t, replies, kept("r", 9))
		mustPut(t, replies, kept("r", 10))
		cause := errors.New("the engine stops")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := s.Gate(ctx); err != cause {
			t.Fatalf("the gate returned %v", err)
		}
		opened := make(chan error, 1)
		go func() { opened <- s.Gate(context.Background()) }()
		synctest.Wait()
		select {
		case err := <-opened:
			t.Fatalf("the gate opened with %+v waiting: %v", s.Stats().Queue, err)
		default:
		}
		w.take()
		w.rest(t, s)
		if err := <-opened; err != nil {
			t.Error(err)
		}
	})
}

func TestGateHoldsFromTheBoundOn(t *testing.T) {
	for missing, held := range map[int64]bool{0: true, 1: false} {
		bubble(t, func(t *testing.T) {
			size := int64(cost(new(kept("first", 0))))
			s, w := blocked(t, Options{GuaranteedBytes: size + missing})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.Gate(ctx); (err != nil) != held {
				t.Errorf("%d bytes below the bound the gate returned %v", missing, err)
			}
			w.take()
			w.rest(t, s)
		})
	}
}
