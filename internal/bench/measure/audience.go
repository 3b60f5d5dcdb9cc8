package measure

import (
	"context"
	"errors"
	"sync/atomic"

	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
)

// audience is who listens to a program: a verifier for each of its streams.
type audience struct {
	streams  []*verify.Stream
	lines    host.LineReader
	latency  *latency.Histogram // nil where tokens carry no times
	received atomic.Int64       // tokens
}

func newAudience(l Load, expected verify.Options) *audience {
	a := &audience{}
	if expected.Timed {
		a.latency = latency.New()
	}
	for index := range l.Streams {
		expected.ID = quote(chatName(index))
		expected.Latency, expected.Received = a.latency, &a.received
		a.streams = append(a.streams, verify.NewStream(expected))
	}
	a.lines = a.streams[0]
	if l.Streams > 1 {
		a.lines = verify.NewSplit(a.streams)
	}
	return a
}

// await waits until all streams have their final line. A chat that ended in an error is one.
func (a *audience) await(ctx context.Context, p *host.Process) error {
	for _, stream := range a.streams {
		if err := p.Await(ctx, stream.Done()); err != nil {
			return err
		}
		if err := stream.Failed(); err != nil {
			return err
		}
	}
	return nil
}

// errNotGone tells that a reader saw the end of what it should have missed.
var errNotGone = errors.New("the stream was over before its reader went away: ask for a longer one")

// awaitGone waits until the reader has gone away.
func (a *audience) awaitGone(ctx context.Context, p *host.Process) error {
	switch err := a.await(ctx, p); {
	case err == nil:
		return errNotGone
	case errors.Is(err, host.ErrEnded):
		return nil
	default:
		return err
	}
}

// reports checks all streams against what was sent and returns the first error. Without statistics
// the text is a free one.
func (a *audience) reports(sent map[string]load.StreamStats) ([]*verify.Report, error) {
	var reports []*verify.Report
	for index, stream := range a.streams {
		count := verify.FreeTextTokens
		if sent != nil {
			count = sent[chatName(index)].Tokens
		}
		report := stream.Report(count)
		if err := report.Err(); err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}
