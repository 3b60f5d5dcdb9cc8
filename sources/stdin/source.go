// Package stdin reads the host's request lines: a go-streams Source that emits *wire.Lines, all whole
// lines that one read brought.
//
// Concurrency law: [Source.Run] reads, cuts and pushes in the goroutine that calls it, which owns the
// buffer, so a line is handed over to nobody on its way to the next stage. A read of a real stdin
// can't be interrupted: Run looks at its context between reads and returns only once the read under
// way does; a program that is to end meanwhile leaves Run behind. Run tells the next stage that
// nothing follows, exactly once; the reader is the caller's to close.
package stdin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
)

// DefaultMaxLineBytes bounds a line when Options don't.
const DefaultMaxLineBytes = 16 << 20

// ErrUnconnected is what Run returns when neither Via nor Out gave the lines a way to go.
var ErrUnconnected = errors.New("stdin source leads nowhere")

// Options change how a Source works; the zero value is the default.
type Options struct {
	// MaxLineBytes is the longest line, in bytes without its line end and without a byte order mark.
	// 0 means DefaultMaxLineBytes.
	MaxLineBytes int
	// Gate is called before each read and waits while nothing may be read; its error ends Run. nil
	// never waits.
	Gate func(ctx context.Context) error
}

// Source is the bounded line reader. Connect it with Via or Out, once, before Run.
type Source struct {
	reader io.Reader
	gate   func(ctx context.Context) error
	cutter cutter
	next   wire.Stage
}

var _ streams.Source = (*Source)(nil)

// New returns a Source of the lines of r.
func New(r io.Reader, options Options) *Source {
	if options.MaxLineBytes <= 0 {
		options.MaxLineBytes = DefaultMaxLineBytes
	}
	if options.Gate == nil {
		options.Gate = func(context.Context) error { return nil }
	}
	return &Source{reader: r, gate: options.Gate, cutter: newCutter(options.MaxLineBytes)}
}

// Via connects flow and returns it. A stage of ours is called directly and borrows each batch until
// its Push returns; any other flow gets clones over its channel.
func (s *Source) Via(flow streams.Flow) streams.Flow {
	s.next = wire.Downstream(flow)
	return flow
}

// Out connects a channel and returns it. The batches are clones; the channel is closed when Run ends.
func (s *Source) Out() <-chan any {
	out := make(chan any)
	s.next = wire.ToChannel(out)
	return out
}

// Run reads until the end of input and returns nil then; else it returns the cause of ctx's end, or
// the error of the reader (wrapped), of the gate or of the next stage. Lines that were whole before
// an error are pushed; the last line counts without its newline only at the end of input.
func (s *Source) Run(ctx context.Context) error {
	if s.next == nil {
		return ErrUnconnected
	}
	cause := s.run(ctx)
	s.next.Done(cause)
	return cause
}

func (s *Source) run(ctx context.Context) error {
	for {
		last, err := s.step(ctx)
		if last || err != nil {
			return err
		}
	}
}

// step reads once and pushes what that completed. last says that the input has ended.
func (s *Source) step(ctx context.Context) (last bool, err error) {
	if err := s.gate(ctx); err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	n, readErr := s.reader.Read(s.cutter.room())
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	last = errors.Is(readErr, io.EOF)
	if lines := s.cutter.cut(n, last); len(lines.Items) > 0 {
		err = s.next.Push(ctx, lines)
	}
	s.cutter.settle()
	if err == nil && readErr != nil && !last {
		err = fmt.Errorf("read stdin: %w", readErr)
	}
	return last, err
}
