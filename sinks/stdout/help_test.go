package stdout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"sluice/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// line is what the test frames say: which request, which of its frames, of what kind.
type line struct {
	R    string // request
	N    int    // number of the frame within its request; of a merged line that of its first
	Kind string // "chunk", "event", "latest", "kept" or "final"
	D    string // text of a chunk
	wire.Delivery
}

func frame(class wire.Class, kind, request string, n int) wire.Frame {
	head := fmt.Sprintf(`{"R":"%s","N":%d,"Kind":"%s","D":"`, request, n, kind)
	return wire.Frame{Class: class, Key: 1, Event: kind, Head: []byte(head), Tail: []byte("\"}\n")}
}

// chunk is mergeable text.
func chunk(request string, n int, text string) wire.Frame {
	f := frame(wire.Mergeable, "chunk", request, n)
	f.Text = []byte(text)
	return f
}

// event is a best-effort frame of about size bytes.
func event(request string, n, size int) wire.Frame {
	return padded(wire.BestEffort, "event", request, n, size)
}

func latest(request string, n int) wire.Frame { return frame(wire.LatestWins, "latest", request, n) }

// kept is a guaranteed frame that is not final, or a reply.
func kept(request string, n int) wire.Frame { return frame(wire.Guaranteed, "kept", request, n) }

func padded(class wire.Class, kind, request string, n, size int) wire.Frame {
	f := frame(class, kind, request, n)
	f.Head = append(f.Head, strings.Repeat("x", max(0, size-len(f.Head)-len(f.Tail)))...)
	return f
}

func final(request string, n int) wire.Frame { return frame(wire.Guaranteed, "final", request, n) }

// counted is a final frame that tells the counts of the moment in which it is encoded.
func counted(request string, n int) wire.Frame {
	return wire.Frame{Cost: 100, Deferred: encode(func(dst []byte, d wire.Delivery) []byte {
		b, err := json.Marshal(line{R: request, N: n, Kind: "final", Delivery: d})
		if err != nil {
			panic(err)
		}
		return append(append(dst, b...), '\n')
	})}
}

// encode makes a function a wire.Deferred.
type encode func(dst []byte, d wire.Delivery) []byte

func (e encode) AppendTo(dst []byte, d wire.Delivery) []byte { return e(dst, d) }

// parse reads lines back; each must be whole.
func parse(t *testing.T, output []byte) []line {
	t.Helper()
	if len(output) > 0 && output[len(output)-1] != '\n' {
		t.Fatalf("the output ends within a line: %q", output)
	}
	var lines []line
	for raw := range bytes.Lines(output) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("broken line %q: %v", raw, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// brief renders lines as "request:kind:n" words for comparison.
func brief(lines []line) string {
	var words []string
	for _, l := range lines {
		words = append(words, fmt.Sprintf("%s:%s:%d", l.R, l.Kind, l.N))
	}
	return strings.Join(words, " ")
}

// writes is an output whose every Write call blocks until the test receives what it wrote.
type writes chan []byte

func (w writes) Write(p []byte) (int, error) {
	w <- bytes.Clone(p)
	return len(p), nil
}

// take receives one write and waits until the writer has asked for the next or sleeps.
func (w writes) take() []byte {
	p := <-w
	synctest.Wait()
	return p
}

// rest receives everything until the sink, which is closed here, has ended. It returns the writes.
func (w writes) rest(t *testing.T, s *Sink) [][]byte {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background(), 0) }()
	var all [][]byte
	for {
		select {
		case p := <-w:
			all = append(all, p)
		case err := <-closed:
			if err != nil {
				t.Fatal(err)
			}
			if q := s.Stats().Queue; q.Frames != 0 || q.Bytes != 0 {
				t.Fatalf("the queue of an ended sink holds %+v", q)
			}
			return all
		}
	}
}

// blocked returns a running sink whose writer is inside its first write, of a reply "first".
func blocked(t *testing.T, options Options) (*Sink, writes) {
	t.Helper()
	w := make(writes)
	s := New(w, options)
	go s.Run()
	mustPut(t, s.Replies(), kept("first", 0))
	synctest.Wait()
	return s, w
}

func mustPut(t *testing.T, l *Lane, frames ...wire.Frame) {
	t.Helper()
	for _, f := range frames {
		if err := l.Put(f); err != nil {
			t.Fatal(err)
		}
	}
}

func mustFinish(t *testing.T, l *Lane, f wire.Frame) {
	t.Helper()
	if err := l.Finish(f); err != nil {
		t.Fatal(err)
	}
}

// bubble runs the test with a fake clock; it fails when a goroutine stays behind.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}
