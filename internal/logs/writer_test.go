package logs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a destination whose writes wait until it is opened.
type gate struct {
	open   chan struct{}
	out    bytes.Buffer
	writes int
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.writes++
	return g.out.Write(p)
}

func lossText(lost int64) []byte { return fmt.Appendf(nil, "lost %d.\n", lost) }

// TestBlockedDestination: nobody waits for a reader that stands still, what waits is bounded, and
// once it reads again the gap is told where it is, unasked.
func TestBlockedDestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, lossText)
		const sent = 3000 // of 1 KiB each, but for the first and last
		start := time.Now()
		fmt.Fprintf(w, "0000%s\n", strings.Repeat("x", 60<<10))
		synctest.Wait() // the first line is in flight
		for i := 1; i < sent-1; i++ {
			fmt.Fprintf(w, "%04d%s\n", i, strings.Repeat("x", 1019))
		}
		fmt.Fprintf(w, "%04d\n", sent-1) // would fit, but not into the gap
		if time.Since(start) != 0 {
			t.Error("a caller waited")
		}
		if waiting := w.inFlight + len(w.pending); waiting > maxPending || waiting < maxPending-2048 {
			t.Errorf("%d bytes wait", waiting)
		}
		lost := w.Lost()
		close(g.open)
		synctest.Wait()
		lines := strings.Split(strings.TrimSuffix(g.out.String(), "\n"), "\n")
		kept := sent - int(lost)
		if most := maxPending/(maxWrite-2048) + 3; g.writes > most {
			t.Errorf("%d writes, want at most %d", g.writes, most)
		}
		if len(lines) != kept+1 || lines[kept] != fmt.Sprintf("lost %d.", lost) {
			t.Fatalf("%d lines of %d with %d lost, last %.20q", len(lines), sent, lost, lines[len(lines)-1])
		}
		for i, line := range lines[:kept] {
			if line[:4] != fmt.Sprintf("%04d", i) {
				t.Fatalf("line %d is %.10q", i, line)
			}
		}
		fmt.Fprintln(w, "after")
		w.Close(time.Second)
		if !strings.HasSuffix(g.out.String(), fmt.Sprintf("lost %d.\nafter\n", lost)) || w.Lost() != lost {
			t.Errorf("lost %d, then %d", lost, w.Lost())
		}
	})
}

// TestCloseGivesUp: Close returns after its timeout however long the destination blocks, and what it
// leaves behind is counted.
func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, lossText)
		fmt.Fprintln(w, "in flight")
		synctest.Wait()
		fmt.Fprintln(w, "waiting")
		start := time.Now()
		w.Close(3 * time.Second)
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("waited %v", waited)
		}
		fmt.Fprintln(w, "late")
		if w.Lost() != 2 {
			t.Errorf("lost %d, want the one that waited and the late one", w.Lost())
		}
		close(g.open) // ends the goroutine
		synctest.Wait()
		if got := g.out.String(); got != "in flight\n" {
			t.Errorf("got %q", got)
		}
	})
}

// TestCloseFlushes: Close waits for a slow destination as long as its timeout allows.
func TestCloseFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, nil)
		fmt.Fprintln(w, "one")
		synctest.Wait()
		fmt.Fprint(w, "two")
		time.AfterFunc(time.Second, func() { close(g.open) })
		w.Close(time.Minute)
		w.Close(0)
		if got := g.out.String(); got != "one\ntwo\n" || w.Lost() != 0 {
			t.Errorf("got %q, lost %d", got, w.Lost())
		}
	})
}

// TestLongLine: a line without room for it is lost alone.
func TestLongLine(t *testing.T) {
	for _, tell := range []func(int64) []byte{nil, lossText} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			w := NewWriter(&out, tell)
			synctest.Wait() // nothing but the line itself wakes the writer
			fmt.Fprintln(w, strings.Repeat("x", maxPending))
			synctest.Wait()
			fmt.Fprintln(w, "next")
			w.Close(time.Second)
			want := "next\n"
			if tell != nil {
				want = "lost 1.\nnext\n"
			}
			if out.String() != want || w.Lost() != 1 {
				t.Errorf("got %.40q, lost %d", out.String(), w.Lost())
			}
		})
	}
}

// TestClosedPipe: a stderr that is gone fails nobody, is left alone between lines, and may come back.
func TestClosedPipe(t *testing.T) {
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, destination := range map[string]*os.File{"EPIPE": pipe, "closed": closed} {
		w := NewWriter(destination, lossText)
		for range 3 {
			if n, err := fmt.Fprintln(w, "x"); n != 2 || err != nil {
				t.Errorf("%s: got %d, %v", name, n, err)
			}
		}
		w.Close(time.Minute)
		if w.Lost() != 3 {
			t.Errorf("%s: lost %d", name, w.Lost())
		}
	}
	pipe.Close()
}

func TestCallerPaysNoAllocation(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	w := NewWriter(g, nil)
	line := []byte(strings.Repeat("x", 100) + "\n")
	for w.Lost() == 0 {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = w.Write(line) }); n != 0 {
		t.Errorf("%v allocations for a lost line", n)
	}
	close(g.open)
	w.Close(time.Minute)
}
