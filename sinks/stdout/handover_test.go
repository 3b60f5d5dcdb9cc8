package stdout

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// crossed is an output in whose first TryWrite something else happens. Its TryWrite takes so many
// bytes.
type crossed struct {
	t      *testing.T
	out    strings.Builder
	during func()
	takes  int
	trying bool
}

func (c *crossed) Write(p []byte) (int, error) {
	if c.trying {
		c.t.Error("the writer writes while a producer does")
	}
	return c.out.Write(p)
}

func (c *crossed) TryWrite(p []byte) int {
	c.trying = true
	defer func() { c.trying = false }()
	if len(p) > directBytes {
		c.t.Errorf("a producer writes %d bytes", len(p))
	}
	if during := c.during; during != nil {
		c.during = nil
		during()
		synctest.Wait()
	}
	n, _ := c.out.Write(p[:min(c.takes, len(p))])
	return n
}

// TestWhatHappensDuringAProducersWrite: frames that arrive and a Close wait for its end, and then go
// on without anybody's help.
func TestWhatHappensDuringAProducersWrite(t *testing.T) {
	for name, c := range map[string]struct {
		takes          int
		pushes, closes bool
	}{
		"a push":                     {1000, true, false},
		"a push, and a rest is left": {5, true, false},
		"the end":                    {1000, false, true},
		"the end, and a rest":        {5, false, true},
		"a push and the end":         {1000, true, true},
		"all of it":                  {5, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				o := &crossed{t: t, takes: c.takes}
				s := New(o, Options{TryWrite: o.TryWrite})
				closed := make(chan error, 1)
				finish := func() { closed <- s.Close(context.Background(), 0) }
				want := "a:kept:0"
				o.during = func() {
					if c.pushes {
						mustPut(t, s.Replies(), kept("b", 0))
						want += " b:kept:0"
					}
					if c.closes {
						go finish()
					}
				}
				go s.Run()
				synctest.Wait()
				mustPut(t, s.Replies(), kept("a", 0))
				synctest.Wait()
				if got := brief(parse(t, []byte(o.out.String()))); got != want {
					t.Errorf("got %s; want %s", got, want)
				}
				if !c.closes {
					go finish()
				}
				if err := <-closed; err != nil {
					t.Error(err)
				}
				if q := s.Stats().Queue; q.Frames != 0 || q.Bytes != 0 {
					t.Errorf("still waiting: %+v", q)
				}
			})
		})
	}
}

// TestALineThatTurnsOutLongIsTheWriters: only its encoding tells how long a deferred line is.
func TestALineThatTurnsOutLongIsTheWriters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := &crossed{t: t, takes: 1 << 20}
		s := New(o, Options{TryWrite: o.TryWrite})
		go s.Run()
		synctest.Wait()
		long := bytes.Repeat([]byte("x"), 2*directBytes)
		mustFinish(t, s.Lane("1"), wire.Frame{Cost: 1, Deferred: encode(func(dst []byte, _ wire.Delivery) []byte { return append(dst, long...) })})
		synctest.Wait()
		if o.out.String() != string(long) {
			t.Errorf("%d bytes were written", o.out.Len())
		}
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingIsWrittenOnceClosed: what follows Close against its contract never meets an output that
// may be closed.
func TestNothingIsWrittenOnceClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := &crossed{t: t, takes: 1000}
		s := New(o, Options{TryWrite: o.TryWrite})
		go s.Run()
		synctest.Wait()
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
		mustPut(t, s.Replies(), kept("late", 0))
		synctest.Wait()
		if o.out.Len() > 0 {
			t.Errorf("written: %s", o.out.String())
		}
	})
}
