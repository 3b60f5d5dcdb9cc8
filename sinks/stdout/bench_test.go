package stdout

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/wire"
)

// backlog is how many bytes may wait before the benchmark's producers pause, so that no contender
// has to drop anything. All contenders pause by the same rule.
const backlog = 16 << 20

// pause is how long a producer then stays away; it is less than the backlog takes to drain.
const pause = 100 * time.Microsecond

// contender takes lines on behalf of a producer.
type contender interface {
	producer(i int) func(f *wire.Frames)
	waiting() int64
	finish() // returns when everything was written
}

// BenchmarkPipe is workload W6: lines of 70–120 bytes from 1 and 8 producers to a real pipe.
// Compare the lines/s of one run with those of bare.
func BenchmarkPipe(b *testing.B) {
	contenders := []struct {
		name string
		open func(io.Writer) contender
	}{
		{"bare", openBare},
		{"coalesce", func(out io.Writer) contender { return openSink(out, Options{}) }},
		{"drop", func(out io.Writer) contender { return openSink(out, Options{Policy: Drop, QueueFrames: 1 << 30}) }},
	}
	for _, producers := range []int{1, 8} {
		for _, perPush := range []int{1, 32} {
			for _, c := range contenders {
				name := fmt.Sprintf("producers=%d/lines=%d/%s", producers, perPush, c.name)
				b.Run(name, func(b *testing.B) { runPipe(b, c.open, producers, perPush) })
			}
		}
	}
}

func runPipe(b *testing.B, open func(io.Writer) contender, producers, perPush int) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 64<<10)
		for {
			if _, err := r.Read(buf); err != nil {
				return
			}
		}
	}()
	c := open(w)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range producers {
		push := c.producer(i)
		all.Go(func() { produce(c, push, b.N/producers+1, perPush) })
	}
	all.Wait()
	c.finish()
	w.Close()
	<-read
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	r.Close()
}

func produce(c contender, push func(*wire.Frames), lines, perPush int) {
	batches := benchBatches(perPush)
	for i := 0; i*perPush < lines; i++ {
		push(&batches[i%len(batches)])
		if i%256 == 0 {
			for c.waiting() > backlog {
				time.Sleep(pause)
			}
		}
	}
}

// benchBatches returns batches whose lines are 70–120 bytes long.
func benchBatches(perPush int) []wire.Frames {
	batches := make([]wire.Frames, 51)
	for i := range batches {
		for j := range perPush {
			batches[i].Items = append(batches[i].Items, wire.Frame{
				Class: wire.Mergeable, Key: 1, Event: "llm_chunk",
				Head: []byte(`{"id":"c1","type":"event","event":"llm_chunk","data":{"delta":"`),
				Text: []byte(strings.Repeat("word ", 11)[:3+(i+j*7)%51]), Tail: []byte("\"}}\n"),
			})
		}
	}
	return batches
}

type sinkContender struct {
	*Sink
	ran sync.WaitGroup
}

func openSink(out io.Writer, options Options) contender {
	c := &sinkContender{Sink: New(out, options)}
	c.ran.Go(c.Run)
	return c
}

func (c *sinkContender) producer(i int) func(*wire.Frames) {
	lane := c.Lane(wire.ID(fmt.Sprint(i)))
	return func(f *wire.Frames) { lane.Push(context.Background(), f) }
}

func (c *sinkContender) waiting() int64 { return c.Stats().Queue.Bytes }

func (c *sinkContender) finish() {
	c.Close(context.Background(), 0)
	c.ran.Wait()
	if dropped := c.Stats().Dropped; dropped > 0 {
		panic("the benchmark dropped events")
	}
}

// bare is the least that a batching writer can do: one lock, two buffers that swap, no bounds, no
// order but arrival, no counters.
type bare struct {
	out     io.Writer
	mu      sync.Mutex
	wake    sync.Cond
	buf     []byte
	closing bool
	ran     sync.WaitGroup
}

func openBare(out io.Writer) contender {
	c := &bare{out: out}
	c.wake.L = &c.mu
	c.ran.Go(c.run)
	return c
}

func (c *bare) producer(int) func(*wire.Frames) {
	return func(f *wire.Frames) {
		c.mu.Lock()
		for i := range f.Items {
			item := &f.Items[i]
			c.buf = append(append(append(c.buf, item.Head...), item.Text...), item.Tail...)
		}
		c.mu.Unlock()
		c.wake.Signal()
	}
}

func (c *bare) run() {
	var other []byte
	for {
		c.mu.Lock()
		for len(c.buf) == 0 && !c.closing {
			c.wake.Wait()
		}
		c.buf, other = other[:0], c.buf
		c.mu.Unlock()
		if len(other) == 0 {
			return
		}
		c.out.Write(other)
	}
}

func (c *bare) waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.buf))
}

func (c *bare) finish() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.wake.Signal()
	c.ran.Wait()
}
