package stdout

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// held returns the bytes of memory in the pages of a mailbox and the free list.
func held(s *Sink, boxes ...*mailbox) (inUse, free int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, box := range boxes {
		var before *page
		for i := range box.entries.len() {
			if pg := box.entries.at(i).page; pg != before {
				inUse, before = inUse+cap(pg.buf), pg
			}
		}
	}
	for _, pg := range s.pages.free {
		free += cap(pg.buf)
	}
	return inUse, free
}

// TestAStalledStreamKeepsItsTextOnly: 200,000 unread chunks cost about their text, and the memory
// is given back, but for the free list, once they are read.
func TestAStalledStreamKeepsItsTextOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		f := chunk("1", 0, "0123456789abcdefghij0123456789abcdefghij")
		text := 0
		for range 200_000 {
			mustPut(t, l, f)
			text += len(f.Text)
		}
		inUse, _ := held(s, l.box)
		if inUse > text+text/20+2*pageCapacity {
			t.Errorf("%d bytes are kept for %d bytes of text", inUse, text)
		}
		if entries := len(l.box.entries.slots); entries > 2*text/(32<<10) {
			t.Errorf("%d entries for %d bytes of text", entries, text)
		}
		w.take()
		got := 0
		for _, line := range parse(t, bytes.Join(w.rest(t, s), nil)) {
			got += len(line.D)
		}
		if got != text || s.Stats().Dropped != 0 {
			t.Errorf("%d of %d bytes of text came", got, text)
		}
		inUse, free := held(s, l.box, &s.replies)
		if inUse != 0 || free > pagesKept*pageCapacity || free == 0 {
			t.Errorf("after the drain %d bytes are in use, %d on the free list", inUse, free)
		}
	})
}

// TestPagesAreRecycled: a sink that keeps up lives on the same few pages.
func TestPagesAreRecycled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		w.take()
		for n := range 1000 {
			mustPut(t, l, event("1", n, 10_000))
			w.take()
		}
		if n := len(s.pages.free); n == 0 || n > 2 {
			t.Errorf("%d pages", n)
		}
		for _, pg := range s.pages.free {
			if len(pg.buf) != 0 || cap(pg.buf) != pageCapacity {
				t.Errorf("a free page has %d of %d bytes in use", len(pg.buf), cap(pg.buf))
			}
		}
		w.rest(t, s)
	})
}

// TestBigPagesAndBigRingsAreFreed: one long line or one long queue does not stay for ever.
func TestBigPagesAndBigRingsAreFreed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		mustPut(t, l, event("1", 0, 1<<20))
		for n := range 2 * ringKept {
			mustPut(t, l, event("1", 1+n, 50))
		}
		w.take()
		w.rest(t, s)
		for _, pg := range s.pages.free {
			if cap(pg.buf) > 2*pageCapacity {
				t.Errorf("a page of %d bytes is kept", cap(pg.buf))
			}
		}
		if n := len(l.box.entries.slots); n > ringKept {
			t.Errorf("an empty ring keeps %d entries", n)
		}
	})
}

// TestReplacedFramesLeaveNoHoles: what was replaced takes no memory in the pages of what waits.
func TestReplacedFramesLeaveNoHoles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		l := s.Lane("1")
		const rounds, size = 300, 10_000
		for n := range rounds {
			for range 5 {
				mustPut(t, l, padded(wire.LatestWins, "latest", "1", n, size))
			}
			mustPut(t, l, kept("1", n))
		}
		if inUse, _ := held(s, l.box); inUse > rounds*size*5/4 {
			t.Errorf("%d bytes are kept for %d", inUse, rounds*size)
		}
		w.take()
		if lines := parse(t, bytes.Join(w.rest(t, s), nil)); len(lines) != 2*rounds {
			t.Errorf("%d lines", len(lines))
		}
	})
}

// TestRunsStayWithinTheirPage: lines that join a run never make the page grow.
func TestRunsStayWithinTheirPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{Policy: Drop})
		l := s.Lane("1")
		for n := range 200 {
			mustPut(t, l, event("1", n, 2900))
		}
		if inUse, _ := held(s, l.box); (inUse-smallCapacity)%pageCapacity != 0 || inUse > 10*pageCapacity {
			t.Errorf("%d bytes are kept for %d", inUse, 200*2900)
		}
		w.take()
		w.rest(t, s)
	})
}

func TestAPieceForgetsWhatItWrote(t *testing.T) {
	p := piece{buf: make([]byte, 10, pieceBytes), encoded: make([]byte, bufferKept+1), frames: 3, planned: 5}
	p.deferred = append(p.deferred, deferredLine{line: encode(nil)})
	p.reset()
	if p.deferred = p.deferred[:1]; p.deferred[0].line != nil {
		t.Error("a deferred line is kept")
	}
	if cap(p.buf) != pieceBytes || len(p.buf) != 0 || p.encoded != nil || p.frames != 0 || p.planned != 0 {
		t.Errorf("kept %d and %d bytes of memory", cap(p.buf), cap(p.encoded))
	}
}

// discard takes everything.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, options := range map[string]Options{"coalesce": {}, "drop": {Policy: Drop}} {
		t.Run(name, func(t *testing.T) {
			s := New(discard{}, options)
			go s.Run()
			l := s.Lane("1")
			var frames wire.Frames
			for n := range 64 {
				frames.Items = append(frames.Items, chunk("1", n, "a word or two"))
			}
			push := func() { l.Push(context.Background(), &frames) }
			for range 2000 {
				push()
			}
			if n := testing.AllocsPerRun(5000, push); n != 0 {
				t.Errorf("%v allocations for a batch of 64", n)
			}
			if err := s.Close(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManyRequestsWaitInSmallPages: hundreds of chats with a line or two each take a small page each,
// and one whose text outgrows it moves.
func TestManyRequestsWaitInSmallPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, w := blocked(t, Options{})
		var lanes []*Lane
		for i := range 100 {
			l := s.Lane(wire.ID(fmt.Sprint(i)))
			mustPut(t, l, event(fmt.Sprint(i), 0, 100), chunk(fmt.Sprint(i), 1, "x"), chunk(fmt.Sprint(i), 2, "y"))
			lanes = append(lanes, l)
			if inUse, _ := held(s, l.box); inUse != smallCapacity {
				t.Fatalf("%d bytes are kept for three small frames", inUse)
			}
		}
		long := strings.Repeat("z", 1000)
		for n := range 40 {
			mustPut(t, lanes[0], chunk("0", 3+n, long))
		}
		if inUse, _ := held(s, lanes[0].box); inUse > smallCapacity+2*pageCapacity {
			t.Errorf("%d bytes are kept for 40 KB of text", inUse)
		}
		text := ""
		for _, l := range parse(t, bytes.Join(append([][]byte{w.take()}, w.rest(t, s)...), nil)) {
			if l.R == "0" && l.Kind == "chunk" {
				text += l.D
			}
		}
		if text != "xy"+strings.Repeat(long, 40) {
			t.Errorf("%d bytes of text", len(text))
		}
	})
}
