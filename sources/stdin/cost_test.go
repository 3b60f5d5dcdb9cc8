package stdin

import (
	"context"
	"io"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// endless returns the same bytes over and over, as many as are asked for.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		m := copy(b[n:], e.text[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.text)
	}
	return n, nil
}

type counter struct{ lines int }

func (c *counter) Push(_ context.Context, element any) error {
	c.lines += len(element.(*wire.Lines).Items)
	return nil
}

func (c *counter) Done(error) {}

const ping = `{"id":12345,"method":"ping"}` + "\n"

func TestNoAllocations(t *testing.T) {
	c := &counter{}
	s := New(&endless{text: ping}, Options{})
	s.next = c
	allocations := testing.AllocsPerRun(20, func() {
		if _, err := s.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 || c.lines < 20*readBytes/len(ping) {
		t.Errorf("%v allocations a read, %d lines", allocations, c.lines)
	}
}

// TestMemoryIsBounded follows the buffer through lines of every length and one that doesn't end.
func TestMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	input := strings.Repeat(ping, 10) + repeat('x', limit) + "\r\n" + repeat('y', 10*limit) + "\n" + strings.Repeat(ping, 10)
	c := &counter{}
	s := New(&pieces{cut(input, 10_000), io.EOF}, Options{MaxLineBytes: limit})
	s.next = c
	largest := 0
	for last := false; !last; {
		pending := s.cutter.end - s.cutter.start
		var err error
		if last, err = s.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		size := len(s.cutter.buffer)
		largest = max(largest, size)
		if size > limit+readBytes || size > 2*(pending+readBytes) {
			t.Fatalf("%d bytes are kept for a line of %d", size, pending)
		}
		if s.cutter.skipping && size != readBytes {
			t.Fatalf("%d bytes are kept while a line is skipped", size)
		}
	}
	if largest < limit || len(s.cutter.buffer) != readBytes || c.lines != 22 {
		t.Errorf("largest %d, at the end %d, %d lines", largest, len(s.cutter.buffer), c.lines)
	}
}

func TestBigBatchIsLetGo(t *testing.T) {
	s := New(strings.NewReader(strings.Repeat("1\n", readBytes)), Options{})
	s.next = &counter{}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept := cap(s.cutter.lines.Items); kept > keptItems {
		t.Errorf("room for %d lines is kept", kept)
	}
}

func BenchmarkPipelinedPings(b *testing.B) {
	c := &counter{}
	s := New(&endless{text: ping}, Options{})
	s.next = c
	b.ReportAllocs()
	b.SetBytes(int64(len(ping)))
	for c.lines < b.N {
		if _, err := s.step(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
