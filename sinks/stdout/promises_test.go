package stdout

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
)

// checkBounds compares what waits, in flight included, with the bounds.
func checkBounds(t *testing.T, s *Sink) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events > s.options.PendingBytes {
		t.Errorf("%d bytes of events wait, the bound is %d", s.events, s.options.PendingBytes)
	}
	if s.options.Policy == Drop {
		events := 0
		for i := range s.replies.entries.len() {
			if e := s.replies.entries.at(i); !e.guaranteed() {
				events += int(e.frames)
			}
		}
		if events > s.options.QueueFrames {
			t.Errorf("%d events are queued, the bound is %d", events, s.options.QueueFrames)
		}
	}
	if held, full := s.room != nil, s.guaranteed >= s.options.GuaranteedBytes; held != full {
		t.Errorf("the gate holds: %v, with %d of %d bytes waiting", held, s.guaranteed, s.options.GuaranteedBytes)
	}
}

func checkSums(t *testing.T, s *Sink, output []byte, whole bool) {
	t.Helper()
	stats := s.Stats()
	if stats.Queue.Frames != 0 || stats.Queue.Bytes != 0 || s.events != 0 || s.guaranteed != 0 {
		t.Errorf("at the end %+v wait", stats.Queue)
	}
	if err := s.Gate(context.Background()); err != nil {
		t.Errorf("the gate at the end: %v", err)
	}
	lines := int64(bytes.Count(output, []byte{'\n'}))
	if whole && (stats.Written.Bytes != int64(len(output)) || stats.Written.Frames != lines) {
		t.Errorf("wrote %d lines, %d bytes, counted %+v", lines, len(output), stats.Written)
	}
}

// check compares the lines of a request with what was pushed. whole is false when the reader left.
func (r *sentRequest) check(t *testing.T, lines []line, options Options, whole bool) {
	t.Helper()
	seen := make([]bool, len(r.kinds))
	next := 0
	var events int64
	for i, l := range lines {
		if l.N < next || l.N >= len(r.kinds) || l.Kind != r.kinds[l.N] {
			t.Fatalf("%s: line %d is %+v after frame %d of %v", r.id, i, l, next-1, r.kinds)
		}
		next = l.N + r.checkText(t, l, options, seen)
		if l.Kind == "final" && i != len(lines)-1 {
			t.Fatalf("%s: the final frame is line %d of %d", r.id, i, len(lines))
		}
		if l.Kind != "final" {
			events++
		}
	}
	if whole {
		r.checkWhole(t, lines, seen, events)
	}
}

// checkText says that a line holds consecutive chunks of one key and no more than the bound. It
// marks the frames that the line holds and returns their number.
func (r *sentRequest) checkText(t *testing.T, l line, options Options, seen []bool) int {
	t.Helper()
	seen[l.N] = true
	if l.Kind != "chunk" {
		return 1
	}
	numbers := strings.Split(strings.TrimSuffix(l.D, ","), ",")
	for i, number := range numbers {
		if n, err := strconv.Atoi(strings.TrimSpace(number)); err != nil || n != l.N+i || r.keys[n] != r.keys[l.N] || r.kinds[n] != "chunk" {
			t.Fatalf("%s: the line of chunk %d says %q", r.id, l.N, l.D)
		}
		seen[l.N+i] = true
	}
	if len(numbers) > 1 && (options.Policy == Drop || len(l.D) > New(nil, options).options.MergeBytes) {
		t.Errorf("%s: merged %q", r.id, l.D)
	}
	return len(numbers)
}

func (r *sentRequest) checkWhole(t *testing.T, lines []line, seen []bool, events int64) {
	t.Helper()
	if len(lines) == 0 || lines[len(lines)-1].Kind != "final" {
		t.Fatalf("%s: no final frame among %d lines", r.id, len(lines))
	}
	var pushed int64
	for n, kind := range r.kinds {
		if kind != "final" {
			pushed++
		}
		if guaranteed := kind == "final" || kind == "kept"; guaranteed && !seen[n] {
			t.Errorf("%s: guaranteed frame %d is missing", r.id, n)
		}
	}
	d := lines[len(lines)-1].Delivery
	if d.Sent != events || d.Sent+d.Merged+d.Dropped != pushed {
		t.Errorf("%s: %d events were pushed and %d came, but the final frame tells %+v", r.id, pushed, events, d)
	}
	if d.Dropped > 0 {
		return
	}
	for n, kind := range r.kinds {
		replaced := kind == "latest" && n+1 < len(r.kinds) && r.kinds[n+1] == "latest"
		if !seen[n] && !replaced {
			t.Errorf("%s: nothing was dropped, but %s %d is missing", r.id, kind, n)
		}
	}
}
