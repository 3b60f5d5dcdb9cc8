package logs

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// moody is a destination that takes all, a part, or nothing of a write, after a while.
type moody struct {
	t      *testing.T
	random *rand.Rand
	well   bool // takes everything; set when only run is idle
	out    []byte
	writes int
}

func (m *moody) Write(p []byte) (int, error) {
	m.writes++
	if len(p) == 0 || p[len(p)-1] != '\n' {
		m.t.Errorf("a write without whole lines: %.40q", p)
	}
	time.Sleep(time.Duration(m.random.IntN(3)) * time.Millisecond)
	n, err := len(p), error(nil)
	switch {
	case m.well:
	case m.random.IntN(8) == 0:
		n, err = 0, io.ErrClosedPipe
	case m.random.IntN(8) == 0:
		n, err = part(m.random, p), errors.New("no space left")
	case m.random.IntN(16) == 0:
		err = errors.New("failed for all that")
	case m.random.IntN(16) == 0:
		n = part(m.random, p) // against io.Writer's contract
	}
	m.out = append(m.out, p[:n]...)
	return n, err
}

// part cuts p anywhere but before a line end: the Writer would supply that, and the line, counted as
// lost, arrive after all.
func part(random *rand.Rand, p []byte) int {
	n := random.IntN(len(p))
	if p[n] == '\n' {
		n++
	}
	return n
}

// TestEveryLineIsWrittenOrLost: whatever the destination does, each line arrives whole, in the order
// of its producer, or is counted, and the lines about losses add up to what was lost.
func TestEveryLineIsWrittenOrLost(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			m := &moody{t: t, random: rand.New(rand.NewPCG(seed, 1))}
			w := NewWriter(m, lossText)
			sent := produce(w, seed)
			time.Sleep(time.Hour) // of the bubble's clock: whatever can be written is
			synctest.Wait()
			m.well = true
			fmt.Fprintln(w, "end of the bad times")
			w.Close(time.Hour)
			lost := w.Lost()
			arrived, told := account(t, string(m.out))
			if told != lost {
				t.Errorf("seed %d: lost %d, told of %d", seed, lost, told)
			}
			if arrived+lost != sent+1 {
				t.Errorf("seed %d: sent %d, arrived %d, lost %d", seed, sent+1, arrived, lost)
			}
			if most := int(2*sent) + 10; m.writes > most {
				t.Errorf("seed %d: %d writes for %d lines", seed, m.writes, sent)
			}
		})
	}
}

// produce writes numbered lines of many lengths from several goroutines and returns how many.
func produce(w *Writer, seed uint64) int64 {
	const producers, each = 3, 120
	var group sync.WaitGroup
	for p := range producers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(p)+2))
			for i := range each {
				fmt.Fprintf(w, "%d %d %s.\n", p, i, strings.Repeat("x", random.IntN(1<<random.IntN(16))))
				time.Sleep(time.Duration(random.IntN(2)) * time.Millisecond)
			}
		})
	}
	group.Wait()
	return producers * each
}

// account counts the whole lines in out and the losses they tell of, and checks the order.
func account(t *testing.T, out string) (arrived, told int64) {
	t.Helper()
	last := map[int]int{}
	for line := range strings.Lines(out) {
		var producer, number int
		var lost int64
		switch {
		case strings.HasPrefix(line, "lost "):
			if n, _ := fmt.Sscanf(line, "lost %d.\n", &lost); n == 1 && line == string(lossText(lost)) {
				told += lost
			}
		case line == "end of the bad times\n":
			arrived++
		case strings.HasSuffix(line, ".\n"):
			arrived++
			if _, err := fmt.Sscanf(line, "%d %d", &producer, &number); err != nil {
				t.Errorf("glued or torn: %.40q", line)
			}
			if before, seen := last[producer]; seen && number <= before {
				t.Errorf("producer %d: %d after %d", producer, number, before)
			}
			last[producer] = number
		}
	}
	return arrived, told
}
