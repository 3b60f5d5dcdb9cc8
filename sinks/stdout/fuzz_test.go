package stdout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// maxOperations keeps programs so small that the model holds.
const maxOperations = 90

// FuzzSink runs the input as a program of pushes and reads, and compares the sink with the model
// after each operation: every byte, every count, in the very order.
//
// The first byte chooses the options; with its highest bit the producers write themselves what the
// output has room for. Each byte after it is an operation: its low three bits say what, the next two
// which request, the upper three how much.
func FuzzSink(f *testing.F) {
	f.Add([]byte("\x00\x00\x08\x40\x03\x05\xe6\x06"))
	f.Add([]byte("\x80\x00\x08\x40\x03\x05\xe6\x06\x12\x07\xe6\x25"))
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 2 || len(program) > maxOperations {
			return
		}
		bubble(t, func(t *testing.T) { runProgram(t, program) })
	})
}

func fuzzOptions(b byte) Options {
	return Options{
		Policy:       Policy(b & 1),
		PendingBytes: []int64{1 << 20, 400, 150, 1}[b>>1&3],
		MergeBytes:   []int{1 << 10, 40, 9, 1}[b>>3&3],
		QueueFrames:  []int{1024, 7, 2, 1}[b>>5&3],
	}
}

// machine runs a program against the sink and the model.
type machine struct {
	sink    *Sink
	model   *model
	lanes   [4]*Lane
	ideal   [4]modelLane
	replies *Lane
	reader  *io.PipeReader
	read    []byte
	frames  int  // numbers the frames
	broken  bool // the reader has left; what follows is discarded
}

func runProgram(t *testing.T, program []byte) {
	options := fuzzOptions(program[0])
	pr, pw := io.Pipe()
	m := &machine{model: &model{options: options}, reader: pr}
	if program[0]&0x80 != 0 {
		options.TryWrite = m.tryWrite
	}
	m.sink = New(pw, options)
	for i := range m.lanes {
		m.lanes[i] = m.sink.Lane(wire.ID(fmt.Sprint(i)))
	}
	m.replies = m.sink.Replies()
	go m.sink.Run()
	synctest.Wait()
	for _, b := range program[1:] {
		m.step(t, b&7, int(b>>3&3), int(b>>5))
		synctest.Wait()
		m.model.compose()
		m.settle()
		m.compare(t)
	}
	m.end(t)
}

func (m *machine) step(t *testing.T, operation byte, lane, amount int) {
	m.frames++
	id := fmt.Sprint(lane)
	switch operation {
	case 0, 1:
		f := chunk(id, m.frames, "0123456789abcdef"[:1+2*amount])
		f.Key = uint32(operation)
		m.put(t, lane, f)
	case 2:
		m.put(t, lane, event(id, m.frames, 50+4*amount))
	case 3:
		m.put(t, lane, padded(wire.LatestWins, "latest", id, m.frames, 50+4*amount))
	case 4:
		m.put(t, lane, kept(id, m.frames))
	case 5:
		m.finish(t, lane, amount)
	case 6:
		m.take(t, []int{1, 5, 20, 50, 100, 200, 1000, 1 << 20}[amount])
	case 7:
		if amount == 7 {
			m.broken = true
			m.reader.CloseWithError(io.ErrClosedPipe)
			return
		}
		f := kept("ping", m.frames)
		mustPut(t, m.replies, f)
		m.model.reply(f)
	}
}

func (m *machine) put(t *testing.T, lane int, f wire.Frame) {
	if err := m.lanes[lane].Put(f); (err != nil) != m.ideal[lane].ended || err != nil && !errors.Is(err, ErrEnded) {
		t.Fatalf("Put returned %v", err)
	}
	if !m.ideal[lane].ended {
		m.model.put(&m.ideal[lane], f)
	}
}

func (m *machine) finish(t *testing.T, lane, amount int) {
	f := final(fmt.Sprint(lane), m.frames)
	if amount%2 == 0 {
		f = counted(fmt.Sprint(lane), m.frames)
	}
	if err := m.lanes[lane].Finish(f); (err != nil) != m.ideal[lane].ended {
		t.Fatalf("Finish returned %v", err)
	}
	if !m.ideal[lane].ended {
		m.model.finish(&m.ideal[lane], f)
	}
}

// tryWrite is read at once, as far as it finds room: none, some, or enough.
func (m *machine) tryWrite(p []byte) int {
	if m.broken {
		return 0
	}
	n := min(len(p), 60*(m.frames%4))
	m.read = append(m.read, p[:n]...)
	return n
}

// settle says that nothing is in flight once everything was read.
func (m *machine) settle() {
	if len(m.read) == len(m.model.output) {
		m.model.inFlight = nil
	}
}

// take reads up to n bytes of what is in flight; the reader never waits.
func (m *machine) take(t *testing.T, n int) {
	n = min(n, len(m.model.output)-len(m.read))
	if n == 0 || m.broken {
		return
	}
	got := make([]byte, n)
	if _, err := io.ReadFull(m.reader, got); err != nil {
		t.Fatal(err)
	}
	m.read = append(m.read, got...)
	m.settle()
}

func (m *machine) compare(t *testing.T) {
	if !bytes.HasPrefix(m.model.output, m.read) {
		t.Fatalf("read     %s\nexpected %s", m.read, m.model.output)
	}
	if m.broken {
		return
	}
	checkBounds(t, m.sink)
	stats := m.sink.Stats()
	waiting := m.model.waitingLines()
	sum := m.model.bytes(func(*modelLine) bool { return true })
	if stats.Queue.Frames != int64(len(waiting)) || stats.Queue.Bytes != sum {
		t.Fatalf("%d frames, %d bytes wait; the sink says %+v", len(waiting), sum, stats.Queue)
	}
	if stats.Merged != m.model.merged || stats.Dropped != m.model.dropped {
		t.Fatalf("merged %d, dropped %d; the sink says %+v", m.model.merged, m.model.dropped, stats)
	}
	for i, l := range m.lanes {
		if got := l.Delivery(); got != m.ideal[i].delivery {
			t.Fatalf("request %d: %+v; the sink says %+v", i, m.ideal[i].delivery, got)
		}
	}
}

// end reads the rest and closes the sink.
func (m *machine) end(t *testing.T) {
	for !m.broken && len(m.read) < len(m.model.output) {
		m.take(t, 1<<20)
		synctest.Wait()
		m.model.compose()
		m.compare(t)
	}
	if err := m.sink.Close(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if q := m.sink.Stats().Queue; q.Frames != 0 || q.Bytes != 0 {
		t.Fatalf("at the end %+v wait", q)
	}
}
