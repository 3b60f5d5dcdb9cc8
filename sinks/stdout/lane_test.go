package stdout

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

var (
	_ streams.Sink = (*Lane)(nil)
	_ wire.Stage   = (*Lane)(nil)
)

func TestNothingFollowsTheFinalFrame(t *testing.T) {
	for _, policy := range []Policy{Coalesce, Drop} {
		bubble(t, func(t *testing.T) {
			w := make(writes)
			s := New(w, Options{Policy: policy})
			go s.Run()
			l := s.Lane("1")
			mustFinish(t, l, final("1", 0))
			frames := &wire.Frames{Items: []wire.Frame{chunk("1", 1, "late")}}
			for name, err := range map[string]error{
				"Push":   l.Push(t.Context(), frames),
				"Put":    l.Put(kept("1", 2)),
				"Finish": l.Finish(final("1", 3)),
			} {
				if !errors.Is(err, ErrEnded) {
					t.Errorf("policy %d: %s returned %v", policy, name, err)
				}
			}
			if got := brief(parse(t, bytes.Join(w.rest(t, s), nil))); got != "1:final:0" {
				t.Errorf("policy %d: %s", policy, got)
			}
		})
	}
}

func TestPushTakesFramesOnly(t *testing.T) {
	l := New(&script{}, Options{}).Lane("1")
	if err := l.Push(t.Context(), "a string"); err == nil || err.Error() != "stdout: a lane takes *wire.Frames, not string" {
		t.Error(err)
	}
}

// TestPushedBytesAreCopied: the producer reuses its batch at once.
func TestPushedBytesAreCopied(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		f := chunk("1", 0, "abc")
		for range 3 {
			mustPut(t, l, f)
		}
		for _, part := range [][]byte{f.Head, f.Text, f.Tail} {
			clear(part)
		}
		w.take()
		if lines := parse(t, bytes.Join(w.rest(t, s), nil)); len(lines) != 1 || lines[0].D != "abcabcabc" {
			t.Errorf("%+v", lines)
		}
	})
}

// TestForeignOperatorsFeedALane: go-streams operators know channels only.
func TestForeignOperatorsFeedALane(t *testing.T) {
	bubble(t, func(t *testing.T) {
		out := &script{}
		s := New(out, Options{})
		go s.Run()
		l := s.Lane("1")
		numbers := make(chan any)
		go func() {
			defer close(numbers)
			for n := range 100 {
				numbers <- n
			}
		}()
		batch := flow.NewMap(func(n int) *wire.Frames {
			return &wire.Frames{Items: []wire.Frame{event("1", 2*n, 10), event("1", 2*n+1, 10)}}
		}, 1)
		extension.NewChanSource(numbers).Via(batch).To(l)
		l.AwaitCompletion()
		mustFinish(t, l, final("1", 200))
		if err := s.Close(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		lines := parse(t, out.got.Bytes())
		for i, line := range lines {
			if line.N != i {
				t.Fatalf("line %d is %+v", i, line)
			}
		}
		if len(lines) != 201 {
			t.Errorf("%d lines", len(lines))
		}
	})
}
