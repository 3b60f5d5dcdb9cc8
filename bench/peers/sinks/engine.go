package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"sluice/internal/wire"
	"sluice/sinks/stdout"
)

// closePatience is how long the engine's sink waits for a reader that takes nothing.
const closePatience = 30 * time.Second

// engine is the engine's own sink, with a request for each producer and the sink's writer goroutine.
type engine struct {
	*stdout.Sink
	ended chan struct{} // closed when the writer has returned
}

func newCoalesce(output io.Writer) sink { return openEngine(output, stdout.Options{}) }

// newDrop never drops, since its producers pause long before the queue is full.
func newDrop(output io.Writer) sink {
	return openEngine(output, stdout.Options{Policy: stdout.Drop, QueueFrames: math.MaxInt32})
}

func openEngine(output io.Writer, options stdout.Options) sink {
	e := &engine{Sink: stdout.New(output, options), ended: make(chan struct{})}
	go func() {
		defer close(e.ended)
		e.Run()
	}()
	return e
}

func (e *engine) producer(index int) func(line) {
	lane := e.Lane(wire.ID(fmt.Sprintf("%q", fmt.Sprint(index))))
	frames := wire.Frames{Items: make([]wire.Frame, 1)}
	return func(l line) {
		frames.Items[0] = wire.Frame{
			Class: wire.Mergeable, Key: 1, Event: "llm_chunk",
			Head: l.bytes[:l.textStart], Text: l.bytes[l.textStart:l.textEnd], Tail: l.bytes[l.textEnd:],
		}
		_ = lane.Push(context.Background(), &frames) // fails only behind a final frame, and there is none
	}
}

func (e *engine) waiting() int64 { return e.Stats().Queue.Bytes }

func (e *engine) close() (int64, error) {
	err := e.Close(context.Background(), closePatience)
	<-e.ended
	stats := e.Stats()
	if stats.Dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%d lines were dropped", stats.Dropped))
	}
	return stats.Merged, err
}
