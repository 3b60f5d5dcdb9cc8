package wire

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

var errTest = errors.New("test")

// recorder is a Stage that fails from its third element on, when fail is set.
type recorder struct {
	elements []any
	fail     error
	done     []error
}

func (r *recorder) Push(_ context.Context, element any) error {
	r.elements = append(r.elements, element)
	if len(r.elements) > 2 {
		return r.fail
	}
	return nil
}

func (r *recorder) Done(cause error) { r.done = append(r.done, cause) }

// ours is an operator that is a Stage; its channel is never used.
type ours struct{ recorder }

func (*ours) In() chan<- any { panic("a fused stage's channel was used") }

// foreign is an operator with a channel alone.
type foreign struct{ in chan any }

func (f foreign) In() chan<- any { return f.in }

func TestDownstreamFusesOurs(t *testing.T) {
	stage := &ours{}
	if got := Downstream(stage); got != Stage(stage) {
		t.Errorf("got %T", got)
	}
}

func TestDownstreamSendsToForeign(t *testing.T) {
	f := foreign{make(chan any, 2)}
	checkSends(t, Downstream(f), f.in)
}

func TestToChannel(t *testing.T) {
	out := make(chan any, 2)
	checkSends(t, ToChannel(out), out)
}

func checkSends(t *testing.T, stage Stage, out <-chan any) {
	t.Helper()
	for i := range 2 {
		if err := stage.Push(t.Context(), i); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if err := stage.Push(ctx, 2); !errors.Is(err, errTest) {
		t.Errorf("a full channel and an ended context: got %v", err)
	}
	stage.Done(errTest)
	var got []any
	for element := range out {
		got = append(got, element)
	}
	if !slices.Equal(got, []any{0, 1}) {
		t.Errorf("received %v", got)
	}
}

func TestFromChannel(t *testing.T) {
	for _, fail := range []error{nil, errTest} {
		synctest.Test(t, func(t *testing.T) {
			in := make(chan any)
			stage := &recorder{fail: fail}
			go FromChannel(t.Context(), in, stage)
			for i := range 5 {
				in <- i
			}
			synctest.Wait()
			if len(stage.done) != 0 {
				t.Error("Done came before the channel was closed")
			}
			close(in)
			synctest.Wait()
			want := 5
			if fail != nil {
				want = 3
			}
			if len(stage.elements) != want || len(stage.done) != 1 || !errors.Is(stage.done[0], fail) {
				t.Errorf("with %v: pushed %v, done with %v", fail, stage.elements, stage.done)
			}
		})
	}
}
