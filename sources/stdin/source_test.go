package stdin

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

func TestOneBatchPerRead(t *testing.T) {
	c := &collector{}
	s := New(&pieces{[]string{"a\nb\nc", "d\n", "e", "f\n\n", "g"}, io.EOF}, Options{})
	s.next = c
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "cd", "ef", "g"}; !slices.Equal(c.lines, want) {
		t.Errorf("lines %q; want %q", c.lines, want)
	}
	if want := []int{2, 1, 1, 1}; !slices.Equal(c.counts, want) {
		t.Errorf("batches of %v; want %v", c.counts, want)
	}
}

var errTest = errors.New("test")

func TestHowRunEnds(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		name      string
		readError error
		gate      func(context.Context) error
		fail      error
		want      error
		lines     int
	}{
		{"end of input", io.EOF, nil, nil, nil, 3},
		{"read error", broken, nil, nil, broken, 2},
		{"next stage", io.EOF, nil, broken, broken, 2},
		{"gate", io.EOF, func(context.Context) error { return broken }, nil, broken, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			to := &collector{fail: c.fail}
			s := New(&pieces{[]string{"a\nb\n", "c"}, c.readError}, Options{Gate: c.gate})
			s.next = to
			err := s.Run(t.Context())
			if !errors.Is(err, c.want) || len(to.lines) != c.lines {
				t.Errorf("got %v and %q; want %v and %d lines", err, to.lines, c.want, c.lines)
			}
			if len(to.done) != 1 || !errors.Is(to.done[0], c.want) {
				t.Errorf("Done was called with %v", to.done)
			}
		})
	}
}

func TestContextEndsBetweenReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		reader, writer := io.Pipe()
		c := &collector{}
		s := New(reader, Options{})
		s.next = c
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		_, _ = writer.Write([]byte("a\n"))
		synctest.Wait()
		cancel(errTest)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("Run returned %v in the middle of a read", err)
		default:
		}
		_, _ = writer.Write([]byte("b\n"))
		if err := <-ended; !errors.Is(err, errTest) || !slices.Equal(c.lines, []string{"a"}) {
			t.Errorf("got %v and %q", err, c.lines)
		}
		if len(c.done) != 1 || !errors.Is(c.done[0], errTest) {
			t.Errorf("Done was called with %v", c.done)
		}
	})
}

func TestGateHoldsReadsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		gate := func(context.Context) error { <-open; return nil }
		reader := strings.NewReader("a\nb\n")
		c := &collector{}
		s := New(reader, Options{Gate: gate})
		s.next = c
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context()) }()
		synctest.Wait()
		if reader.Len() != 4 {
			t.Error("read although the gate was shut")
		}
		close(open)
		if err := <-ended; err != nil || len(c.lines) != 2 {
			t.Errorf("got %v and %q", err, c.lines)
		}
	})
}

// fused is a go-streams Flow of ours.
type fused struct {
	*flow.PassThrough
	collector
}

func TestViaCallsOursDirectly(t *testing.T) {
	f := &fused{PassThrough: flow.NewPassThrough()}
	close(f.In())
	s := New(strings.NewReader("a\nb\n"), Options{})
	if got := s.Via(f); got != f {
		t.Errorf("Via returned %v", got)
	}
	if err := s.Run(t.Context()); err != nil || !slices.Equal(f.lines, []string{"a", "b"}) {
		t.Errorf("got %v and %q", err, f.lines)
	}
	if len(f.done) != 1 {
		t.Errorf("Done was called %d times", len(f.done))
	}
}

// TestForeignGetsClones keeps every batch until the source has reused its own many times.
func TestForeignGetsClones(t *testing.T) {
	list := []string{"a\nb\n", repeat('x', 50) + "\n", "c\n", "dd\nee\n"}
	want := reference(strings.Join(list, ""), 10)
	for name, outlet := range map[string]func(*Source) <-chan any{
		"Out": (*Source).Out,
		"Via": func(s *Source) <-chan any { return s.Via(flow.NewPassThrough()).Out() },
	} {
		t.Run(name, func(t *testing.T) {
			s := New(&pieces{slices.Clone(list), io.EOF}, Options{MaxLineBytes: 10})
			out := outlet(s)
			ended := make(chan error, 1)
			go func() { ended <- s.Run(t.Context()) }()
			var batches []*wire.Lines
			for element := range out {
				batches = append(batches, element.(*wire.Lines))
			}
			var got []string
			for _, batch := range batches {
				for _, line := range batch.Items {
					got = append(got, text(line))
				}
			}
			if err := <-ended; err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v and %q; want %q", err, got, want)
			}
		})
	}
}

func TestUnconnected(t *testing.T) {
	if err := New(strings.NewReader("a\n"), Options{}).Run(t.Context()); !errors.Is(err, ErrUnconnected) {
		t.Errorf("got %v", err)
	}
}
