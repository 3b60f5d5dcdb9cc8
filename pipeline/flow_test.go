package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

// source pushes batches of events like ours do: one batch, reused.
type source struct {
	next    wire.Stage
	batches int
}

func (s *source) Via(flow streams.Flow) streams.Flow {
	s.next = wire.Downstream(flow)
	return flow
}

func (s *source) Out() <-chan any {
	out := make(chan any)
	s.next = wire.ToChannel(out)
	return out
}

func (s *source) run() error {
	var batch wire.Events
	text := make([]byte, 8)
	var cause error
	for i := 0; i < s.batches && cause == nil; i++ {
		batch.Reset()
		copy(text, fmt.Sprintf("%08d", i))
		batch.Items = append(batch.Items, wire.Event{Text: text})
		cause = s.next.Push(context.Background(), &batch)
	}
	clear(text)
	s.next.Done(cause)
	return cause
}

// sink collects texts. It is a stage of ours.
type sink struct {
	texts   []string
	threads map[string]bool // the goroutines that pushed
	refuse  error           // what Push returns
	cause   error           // what Done was told
	done    chan struct{}
	inlet   sync.Once
	in      chan any
}

func newSink() *sink { return &sink{threads: map[string]bool{}, done: make(chan struct{})} }

func (s *sink) Push(_ context.Context, element any) error {
	s.threads[thread()] = true
	if s.refuse != nil {
		return s.refuse
	}
	for _, event := range element.(*wire.Events).Items {
		s.texts = append(s.texts, string(event.Text))
	}
	return nil
}

func (s *sink) Done(cause error) {
	s.cause = cause
	close(s.done)
}

func (s *sink) In() chan<- any {
	s.inlet.Do(func() {
		s.in = make(chan any)
		go wire.FromChannel(context.Background(), s.in, s)
	})
	return s.in
}

func (s *sink) AwaitCompletion() { <-s.done }

// thread names the goroutine that calls it.
func thread() string {
	var stack [64]byte
	name, _, _ := strings.Cut(string(stack[:runtime.Stack(stack[:], false)]), " [")
	return name
}

// add returns a flow of ours that adds a letter to each text, in place as stages do.
func add(letter byte) *Flow[*wire.Events, *wire.Events] {
	var out wire.Events
	return NewFlow(&Counter{name: string(letter)}, func(in *wire.Events) *wire.Events {
		out.Reset()
		for _, e := range in.Items {
			e.Text = append(bytes.Clone(e.Text), letter)
			out.Items = append(out.Items, e)
		}
		return &out
	}, nil)
}

func wanted(batches int, tail string) (texts []string) {
	for i := range batches {
		texts = append(texts, fmt.Sprintf("%08d%s", i, tail))
	}
	return texts
}

// TestNeighboursFuse: a chain of ours is direct calls, and nobody starts a goroutine.
func TestNeighboursFuse(t *testing.T) {
	before := runtime.NumGoroutine()
	from, to := &source{batches: 100}, newSink()
	from.Via(add('a')).Via(add('b')).Via(add('c')).To(to)
	if err := from.run(); err != nil {
		t.Fatal(err)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines were started", after-before)
	}
	if len(to.threads) != 1 || !to.threads[thread()] || !reflect.DeepEqual(to.texts, wanted(100, "abc")) {
		t.Errorf("%v pushed %.60q", to.threads, to.texts)
	}
}

// TestForeignOperators stand between, before and behind ours.
func TestForeignOperators(t *testing.T) {
	same := func(e *wire.Events) *wire.Events { return e }
	for name, join := range map[string]func(*source, *sink){
		"pass-through between": func(from *source, to *sink) { from.Via(add('a')).Via(flow.NewPassThrough()).Via(add('b')).To(to) },
		"map between":          func(from *source, to *sink) { from.Via(add('a')).Via(flow.NewMap(same, 1)).Via(add('b')).To(to) },
		"two between": func(from *source, to *sink) {
			from.Via(add('a')).Via(flow.NewPassThrough()).Via(flow.NewMap(same, 1)).Via(add('b')).To(to)
		},
		"alternating": func(from *source, to *sink) {
			from.Via(flow.NewPassThrough()).Via(add('a')).Via(flow.NewPassThrough()).Via(add('b')).To(to)
		},
		"behind, before a sink": func(from *source, to *sink) {
			last := from.Via(add('a')).Via(add('b')).Via(flow.NewPassThrough())
			go last.To(to)
		},
		"through channels alone": func(from *source, to *sink) {
			head, a, b := flow.NewPassThrough(), add('a'), add('b')
			from.Via(head)
			flow.DoStream(head, a)
			flow.DoStream(a, b)
			flow.DoStream(b, to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := &source{batches: 200}, newSink()
			join(from, to)
			if err := from.run(); err != nil {
				t.Fatal(err)
			}
			to.AwaitCompletion()
			if to.cause != nil || !reflect.DeepEqual(to.texts, wanted(200, "ab")) {
				t.Errorf("%v, %.60q", to.cause, to.texts)
			}
		})
	}
}

// TestForeignSourceRunsEarly: it sends from the moment it is connected, before the rest is.
func TestForeignSourceRunsEarly(t *testing.T) {
	first, to := flow.NewPassThrough(), newSink()
	sent := make(chan struct{})
	a := add('a')
	first.Via(a)
	go func() {
		first.In() <- &wire.Events{Items: []wire.Event{{Text: []byte("x")}}}
		close(sent)
		close(first.In())
	}()
	<-sent
	a.Via(add('b')).To(to)
	to.AwaitCompletion()
	if !reflect.DeepEqual(to.texts, []string{"xab"}) {
		t.Errorf("got %q", to.texts)
	}
}

// TestForeignElements: what isn't a batch of ours ends the stream, and its sender isn't blocked.
func TestForeignElements(t *testing.T) {
	a, to := add('a'), newSink()
	a.To(to)
	in := a.In()
	for _, element := range []any{&wire.Events{Items: []wire.Event{{Text: []byte("x")}}}, "text", &wire.Frames{}, 7} {
		in <- element
	}
	close(in)
	to.AwaitCompletion()
	if to.cause == nil || !strings.Contains(to.cause.Error(), "the stage a takes *wire.Events, not string") || !reflect.DeepEqual(to.texts, []string{"xa"}) {
		t.Errorf("%v, %q", to.cause, to.texts)
	}
}

// TestRefusal: an error of the last stage reaches the source, and Done tells it on.
func TestRefusal(t *testing.T) {
	from, to := &source{batches: 3}, newSink()
	to.refuse = errors.New("enough")
	from.Via(add('a')).Via(add('b')).To(to)
	if err := from.run(); !errors.Is(err, to.refuse) || !errors.Is(to.cause, to.refuse) {
		t.Errorf("the source was told %v, the sink %v", err, to.cause)
	}
}

// TestFlush hands on what a stage kept until the end, once, before Done.
func TestFlush(t *testing.T) {
	for _, c := range []struct {
		cause, refuse, want error
	}{{}, {cause: errFirst, want: errFirst}, {refuse: errSecond, want: errSecond}, {cause: errFirst, refuse: errSecond, want: errFirst}} {
		kept, to := wire.Events{Items: []wire.Event{{Text: []byte("kept")}}}, newSink()
		to.refuse = c.refuse
		none := func(*wire.Events) *wire.Events { return &wire.Events{} }
		f := NewFlow(&Counter{}, none, func() *wire.Events { return &kept })
		f.Via(add('a')).To(to)
		if err := f.Push(context.Background(), &kept); err != nil || len(to.threads) > 0 {
			t.Errorf("an empty batch was handed on: %v", err)
		}
		f.Done(c.cause)
		if !errors.Is(to.cause, c.want) || c.refuse == nil && !reflect.DeepEqual(to.texts, []string{"kepta"}) {
			t.Errorf("got %q, %v; want %v", to.texts, to.cause, c.want)
		}
	}
}

var errFirst, errSecond = errors.New("first"), errors.New("second")

func TestCounters(t *testing.T) {
	counter := &Counter{name: "n"}
	f := NewFlow(counter, func(in *wire.Events) *wire.Events { return in }, nil)
	f.To(newSink())
	for range 3 {
		_ = f.Push(context.Background(), &wire.Events{Items: make([]wire.Event, 2)})
	}
	if s := counter.stats(); s.Name != "n" || s.Count != 6 || s.Busy < 0 {
		t.Errorf("got %+v", s)
	}
}
