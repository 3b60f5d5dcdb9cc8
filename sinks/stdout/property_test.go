package stdout

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/wire"
)

var (
	propertySeed = flag.Uint64("seed", 0, "replay one run of the property test")
	propertyRuns = flag.Int("runs", 40, "runs of the property test")
)

// TestAnyProducersAnyReader runs random requests against random bounds and a random reader, and
// checks every promise of the sink. A failing run is replayed with -seed.
func TestAnyProducersAnyReader(t *testing.T) {
	seeds := []uint64{*propertySeed}
	if *propertySeed == 0 {
		seeds = nil
		for range *propertyRuns {
			seeds = append(seeds, rand.Uint64())
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { runAny(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func runAny(t *testing.T, rnd *rand.Rand) {
	options := anyOptions(rnd)
	name := readerNames[rnd.IntN(len(readerNames))]
	pr, pw := io.Pipe()
	var out io.Writer = pw
	closeOutput := func() {}
	if rnd.IntN(2) == 0 {
		var k *kernel
		k, closeOutput = newKernel(t, 1+rnd.IntN(8000), pw)
		out, options.TryWrite = k, k.TryWrite
	}
	t.Logf("reader %s, producers write %t, options %+v", name, options.TryWrite != nil, options)
	s := New(out, options)
	go s.Run()
	got := make(chan []byte)
	go func(rnd *rand.Rand) { got <- readAny(pr, name, rnd) }(rand.New(rand.NewPCG(rnd.Uint64(), 2)))

	sent := make([]*sentRequest, 1+rnd.IntN(8))
	var producers sync.WaitGroup
	for i := range sent {
		sent[i] = &sentRequest{id: fmt.Sprint("r", i)}
		source := rand.New(rand.NewPCG(rnd.Uint64(), 3))
		producers.Go(func() { sent[i].produce(t, s, source, i%3 == 2) })
	}
	producers.Wait()
	if err := s.Close(context.Background(), 0); err != nil {
		t.Error(err)
	}
	closeOutput()
	pw.Close()
	output := <-got
	// What a kernel had taken when its reader went is lost without the sink's knowing.
	whole := name != "closed" || options.TryWrite == nil
	select {
	case <-s.Gone():
		whole = false
	default:
	}
	if !whole {
		output = output[:bytes.LastIndexByte(output, '\n')+1]
	}
	if !whole && name != "closed" {
		t.Errorf("the sink says that reader %s has gone", name)
	}
	checkSums(t, s, output, whole)
	byRequest := map[string][]line{}
	for _, l := range parse(t, output) {
		byRequest[l.R] = append(byRequest[l.R], l)
	}
	for _, r := range sent {
		r.check(t, byRequest[r.id], options, whole)
	}
}

func anyOptions(rnd *rand.Rand) Options {
	pick := func(sizes ...int) int { return sizes[rnd.IntN(len(sizes))] }
	return Options{
		Policy:          Policy(rnd.IntN(2)),
		PendingBytes:    int64(pick(1, 300, 1000, 5000, 0)),
		MergeBytes:      pick(1, 20, 500, 0),
		QueueFrames:     pick(1, 5, 50, 0),
		GuaranteedBytes: int64(pick(1, 500, 5000, 0)),
	}
}

var readerNames = []string{"fast", "stalled", "throttled", "trickle", "bursty", "closed"}

// readAny reads until the end, in the manner of the reader's name, and returns what it got.
func readAny(pr *io.PipeReader, name string, rnd *rand.Rand) []byte {
	var got []byte
	buf := make([]byte, 64<<10)
	until := rnd.IntN(2000)
	if name == "stalled" {
		time.Sleep(time.Hour)
	}
	for {
		size := len(buf)
		switch name {
		case "throttled":
			time.Sleep(time.Millisecond)
			size = 500
		case "trickle":
			time.Sleep(time.Duration(rnd.IntN(5)) * time.Microsecond)
			size = 1 + rnd.IntN(40)
		case "bursty":
			if rnd.IntN(4) == 0 {
				time.Sleep(time.Duration(rnd.IntN(500)) * time.Millisecond)
			}
		case "closed":
			size = 200
		}
		n, err := pr.Read(buf[:size])
		got = append(got, buf[:n]...)
		if err == nil && name == "closed" && len(got) > until {
			pr.CloseWithError(syscall.EPIPE)
			return got
		}
		if err != nil {
			return got
		}
	}
}

// sentRequest is what one producer pushed.
type sentRequest struct {
	id       string
	kinds    []string // by frame number
	keys     []uint32
	delivery wire.Delivery
}

// produce pushes random frames and one final frame, pausing now and then. Every chunk's text is its
// number, so that a line shows which chunks it holds.
func (r *sentRequest) produce(t *testing.T, s *Sink, rnd *rand.Rand, short bool) {
	l := s.Lane(wire.ID(r.id))
	var frames wire.Frames
	count := rnd.IntN(120)
	if short {
		count = rnd.IntN(3)
	}
	for len(r.kinds) < count {
		frames.Reset()
		for range 1 + rnd.IntN(8) {
			frames.Items = append(frames.Items, r.any(rnd))
		}
		if err := l.Push(context.Background(), &frames); err != nil {
			t.Error(err)
		}
		checkBounds(t, s)
		if rnd.IntN(3) == 0 {
			time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
		}
	}
	r.kinds, r.keys = append(r.kinds, "final"), append(r.keys, 0)
	if err := l.Finish(counted(r.id, len(r.kinds)-1)); err != nil {
		t.Error(err)
	}
	if err := l.Put(event(r.id, len(r.kinds), 10)); err != ErrEnded {
		t.Errorf("after the final frame Put returned %v", err)
	}
	checkBounds(t, s)
	r.delivery = l.Delivery()
}

func (r *sentRequest) any(rnd *rand.Rand) wire.Frame {
	n := len(r.kinds)
	var f wire.Frame
	switch rnd.IntN(10) {
	case 0:
		f = event(r.id, n, rnd.IntN(300))
	case 1, 2:
		f = latest(r.id, n)
	case 3:
		f = kept(r.id, n)
	default:
		f = chunk(r.id, n, fmt.Sprint(n, ","))
		f.Key = uint32(1 + n/30)
	}
	r.kinds, r.keys = append(r.kinds, f.Event), append(r.keys, f.Key)
	return f
}
