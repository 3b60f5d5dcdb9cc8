package stdout

import (
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// kernel is an output with a buffer of its own, as a pipe has one: Write waits for room, TryWrite
// takes what there is room for. It fails the test when two write at once.
type kernel struct {
	t       *testing.T
	room    int // bytes that the buffer holds
	writing atomic.Bool

	mu     sync.Mutex
	moved  sync.Cond
	buf    []byte
	ended  bool
	broken bool
	direct int // bytes that TryWrite took
}

// newKernel returns a kernel whose buffer is emptied into out until close.
func newKernel(t *testing.T, room int, out io.Writer) (k *kernel, closeAndWait func()) {
	k = &kernel{t: t, room: room}
	k.moved.L = &k.mu
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		k.pump(out)
	}()
	return k, func() {
		k.mu.Lock()
		k.ended = true
		k.moved.Broadcast()
		k.mu.Unlock()
		<-pumped
	}
}

func (k *kernel) pump(out io.Writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		for len(k.buf) == 0 && !k.ended {
			k.moved.Wait()
		}
		if len(k.buf) == 0 {
			return
		}
		p := k.buf
		k.mu.Unlock()
		_, err := out.Write(p)
		k.mu.Lock()
		k.buf = k.buf[len(p):]
		k.broken = k.broken || err != nil
		k.moved.Broadcast()
	}
}

func (k *kernel) alone() func() {
	if k.writing.Swap(true) {
		k.t.Error("two write at once")
	}
	return func() { k.writing.Store(false) }
}

func (k *kernel) takeLocked(p []byte) int {
	n := min(len(p), k.room-len(k.buf))
	k.buf = append(k.buf[:len(k.buf):len(k.buf)], p[:n]...)
	k.moved.Broadcast()
	return n
}

func (k *kernel) Write(p []byte) (written int, err error) {
	defer k.alone()()
	k.mu.Lock()
	defer k.mu.Unlock()
	for written < len(p) {
		for len(k.buf) == k.room && !k.broken {
			k.moved.Wait()
		}
		if k.broken {
			return written, syscall.EPIPE
		}
		written += k.takeLocked(p[written:])
	}
	return written, nil
}

func (k *kernel) TryWrite(p []byte) int {
	defer k.alone()()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken {
		return 0
	}
	n := k.takeLocked(p)
	k.direct += n
	return n
}

func TestAnIdleSinkIsWrittenByTheProducer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var out strings.Builder
		k, closeKernel := newKernel(t, 1<<20, &out)
		s := New(k, Options{TryWrite: k.TryWrite})
		go s.Run()
		synctest.Wait()
		l := s.Lane("c")
		mustPut(t, s.Replies(), kept("a", 0))
		mustPut(t, l, chunk("c", 0, "x"))
		mustFinish(t, l, counted("c", 1))
		before := k.direct
		mustPut(t, s.Replies(), padded(wire.Guaranteed, "kept", "b", 0, directBytes+1))
		if err := s.Close(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		closeKernel()
		if before == 0 || k.direct != before {
			t.Errorf("producers wrote %d bytes, then %d of a line that is too long for them", before, k.direct-before)
		}
		if got := brief(parse(t, []byte(out.String()))); got != "a:kept:0 c:chunk:0 c:final:1 b:kept:0" {
			t.Error(got)
		}
		if st := s.Stats(); st.Queue.Frames != 0 || st.Written.Batches != 4 || st.Written.Bytes != int64(out.Len()) {
			t.Errorf("%+v, %d bytes", st, out.Len())
		}
	})
}

// A producer that finds no room leaves the rest to the writer and never waits.
func TestAProducerNeverWaitsForRoom(t *testing.T) {
	for _, room := range []int{1, 10, 50, 100} {
		bubble(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			k, closeKernel := newKernel(t, room, pw)
			s := New(k, Options{TryWrite: k.TryWrite})
			go s.Run()
			synctest.Wait()
			l := s.Lane("c")
			for n := range 20 {
				mustPut(t, l, event("c", n, 70))
			}
			mustFinish(t, l, final("c", 20))
			got := make(chan []byte)
			go func() {
				all, _ := io.ReadAll(pr)
				got <- all
			}()
			if err := s.Close(context.Background(), 0); err != nil {
				t.Fatal(err)
			}
			closeKernel()
			pw.Close()
			if lines := parse(t, <-got); len(lines) != 21 || lines[20].Kind != "final" {
				t.Errorf("room %d: %s", room, brief(lines))
			}
		})
	}
}

// A reader that has gone is found by the writer, to whom the producer leaves what it could not write.
func TestAProducerLeavesABrokenOutputToTheWriter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := New(broken{}, Options{TryWrite: func([]byte) int { return 0 }})
		go s.Run()
		synctest.Wait()
		mustPut(t, s.Replies(), kept("a", 0))
		<-s.Gone()
		mustPut(t, s.Replies(), kept("b", 0))
		if err := s.Close(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }
