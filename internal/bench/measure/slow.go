package measure

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/internal/bench/host"
)

// patience is how many times the asked time a reader stays slow at most: an engine that makes the
// stream wait for such a reader would take minutes for what it is measured by in seconds.
const patience = 3

// awaitEnd waits for the final lines. A slow reader reads at full speed once it was slow for the
// asked time and the load server has sent its streams, up to the given number. Where the reader goes
// away, those streams are all that is waited for.
func (s *Session) awaitEnd(ctx context.Context, p *host.Process, a *audience, l Load, number int) error {
	if l.closes() {
		if err := a.awaitGone(ctx, p); err != nil {
			return err
		}
		return s.awaitSent(ctx, p, number)
	}
	if l.Reader.Slow() {
		if err := s.slowPhase(ctx, p, a, l, number); err != nil {
			return err
		}
		p.SetPace(nil)
	}
	return a.await(ctx, p)
}

// awaitSent waits until the load server has sent its streams up to the given number to a program
// whose output nobody reads; that it exits before is an error.
func (s *Session) awaitSent(ctx context.Context, p *host.Process, number int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited():
			cancel(fmt.Errorf("%w when its reader went away", host.ErrExited))
		case <-ctx.Done():
		}
	}()
	_, err := s.streams(ctx, number)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// slowPhase returns early when a reader gets everything in spite of its pace.
func (s *Session) slowPhase(ctx context.Context, p *host.Process, a *audience, l Load, number int) error {
	least, cancelLeast := context.WithTimeout(ctx, l.SlowFor)
	defer cancelLeast()
	most, cancelMost := context.WithTimeout(ctx, l.During+patience*l.SlowFor)
	defer cancelMost()
	sent := make(chan struct{})
	var sentErr error
	go func() {
		defer close(sent)
		_, sentErr = s.streams(most, number)
	}()
	if err := p.Await(ctx, sent); err != nil {
		cancelMost()
		<-sent
		return err
	}
	if sentErr != nil && !errors.Is(sentErr, context.DeadlineExceeded) {
		return sentErr
	}
	if err := a.await(least, p); err != nil && least.Err() == nil {
		return err
	}
	return ctx.Err()
}

// unreadTokens is the length of a chat that an engine without a reader has to serve.
const unreadTokens = 1000

// serveUnread asks an engine whose reader has gone away for another chat, which it must serve to
// its end, and for its own end, which must be a good one.
func (s *Session) serveUnread(ctx context.Context, e *Engine) error {
	earlier, err := s.streams(ctx, 0)
	if err != nil {
		return err
	}
	again := Load{Tokens: unreadTokens, Streams: 1}
	if _, err := io.WriteString(e, ChatLine("unread", again.steer("unread"))); err != nil {
		return fmt.Errorf("%w without a reader: %w", host.ErrExited, err)
	}
	err = s.awaitSent(ctx, e.Process, len(earlier)+1)
	if err == nil {
		_, err = s.sentStreams(ctx, len(earlier), again)
	}
	if err != nil {
		return fmt.Errorf("without a reader: %w", err)
	}
	return e.Close()
}
