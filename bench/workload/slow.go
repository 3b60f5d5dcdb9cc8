package workload

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/internal/bench/host"
	"sluice/internal/bench/verify"
)

// patience is how many times the asked time a reader stays slow at most: an engine that makes the
// stream wait for such a reader would take minutes for what it is measured by in seconds.
const patience = 3

// awaitEnd waits for the final line. A slow reader reads at full speed once it was slow for the
// asked time and the load server has sent its stream, the one with the given number. Where the
// reader goes away, that stream is all that is waited for.
func (b *Bench) awaitEnd(ctx context.Context, p *host.Process, stream *verify.Stream, d demand, number int) error {
	if d.reader.Reader == host.ReaderClosed {
		if err := p.Await(ctx, p.Ended()); err != nil {
			return err
		}
		_, err := b.streams(ctx, number)
		return err
	}
	if d.reader.Slow() {
		if err := b.slowPhase(ctx, p, stream, d, number); err != nil {
			return err
		}
		p.SetPace(nil)
	}
	return p.Await(ctx, stream.Done())
}

func (b *Bench) slowPhase(ctx context.Context, p *host.Process, stream *verify.Stream, d demand, number int) error {
	least, cancelLeast := context.WithTimeout(ctx, d.slowFor)
	defer cancelLeast()
	go func() {
		select {
		case <-stream.Done(): // it was not so slow
			cancelLeast()
		case <-least.Done():
		}
	}()
	most, cancelMost := context.WithTimeout(ctx, patience*d.slowFor)
	defer cancelMost()
	sent := make(chan struct{})
	var sentErr error
	go func() {
		defer close(sent)
		_, sentErr = b.streams(most, number)
	}()
	if err := p.Await(ctx, sent); err != nil {
		cancelMost()
		<-sent
		return err
	}
	if sentErr != nil && !errors.Is(sentErr, context.DeadlineExceeded) {
		return sentErr
	}
	return p.Await(ctx, least.Done())
}

// unreadTokens is the length of a chat that an engine without a reader has to serve.
const unreadTokens = 1000

// serveUnread asks an engine whose reader has gone away for another chat, which it must serve to
// its end, and for its own end, which must be a good one.
func (b *Bench) serveUnread(ctx context.Context, e *engine) error {
	earlier, err := b.streams(ctx, 0)
	if err != nil {
		return err
	}
	again := demand{tokens: unreadTokens}
	if _, err := io.WriteString(e, chatLineAs(`"unread"`, again.steer())); err != nil {
		return err
	}
	streams, err := b.streams(ctx, len(earlier)+1)
	if err != nil {
		return err
	}
	if err := checkSent(streams[len(earlier)], unreadTokens); err != nil {
		return fmt.Errorf("without a reader: %w", err)
	}
	return e.Close()
}
