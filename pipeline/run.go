package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/stages/execute"
)

// Reason says why the engine stopped.
type Reason string

// The reasons of Run.
const (
	EndOfInput Reason = "end of input"
	Shutdown   Reason = "shutdown requested"
	Signal     Reason = "signal"
	HostGone   Reason = "host gone"
	ReadFailed Reason = "reading stdin failed"
	// ReaderStuck ends the chats that wait for the reader of stdout, which takes nothing any more.
	ReaderStuck Reason = "nobody reads stdout"
)

// statsInterval is how often the counters are logged at debug.
const statsInterval = 10 * time.Second

// closeTimeout bounds the end of the model servers; they are killed long before. killTimeout is how
// much longer killed ones are waited for: a process that hangs in a driver must not keep us.
const closeTimeout, killTimeout = 10 * time.Second, 2 * time.Second

// Run serves until the end of input, a shutdown request, or ctx ends (a signal), then ends what runs,
// drains the sink and stops the servers. The error says that output was given up.
//
// After a signal the goroutine that reads stdin may still be blocked in its read; it is abandoned and
// has no further effect.
func (p *Pipeline) Run(ctx context.Context) (Reason, error) {
	logging, stopLogging := context.WithCancel(ctx)
	defer stopLogging()
	go p.logStats(logging)
	go p.options.Sink.Run()
	reason := p.intake(ctx)
	p.options.Logger.Debug("input has ended", "reason", string(reason))
	reason = p.finish(ctx, reason)
	err := p.drain(ctx, reason)
	p.options.Logger.Debug("stopped", "reason", string(reason))
	return reason, err
}

// intake reads requests until there are no more.
func (p *Pipeline) intake(ctx context.Context) Reason {
	ended := make(chan error, 1)
	go func() { ended <- p.options.Stdin.Run(ctx) }()
	select {
	case <-ctx.Done():
		return Signal
	case err := <-ended:
		switch {
		case err == nil:
			return EndOfInput
		case errors.Is(err, execute.ErrShutdown):
			return Shutdown
		case errors.Is(err, errReaderStuck):
			return ReaderStuck
		case ctx.Err() != nil:
			return Signal
		}
		p.options.Logger.Error("reading stdin failed; what runs goes on", "error", err.Error())
		return ReadFailed
	}
}

// finish waits for what runs. At the end of input it may take its time, unless the host has gone, has
// stopped reading what chats wait for, or a signal comes; in every other case it is cancelled.
func (p *Pipeline) finish(ctx context.Context, reason Reason) Reason {
	idle := make(chan struct{})
	go func() { p.execute.Wait(); close(idle) }()
	if reason == EndOfInput || reason == ReadFailed {
		p.execute.DenyApprovals()
		reason = p.await(ctx, idle, reason)
	}
	if reason != EndOfInput && reason != ReadFailed {
		p.execute.Stop(fmt.Errorf("pipeline: %s", reason))
	}
	<-idle
	return reason
}

func (p *Pipeline) await(ctx context.Context, idle <-chan struct{}, reason Reason) Reason {
	watch, stop := context.WithCancel(ctx)
	defer stop()
	var hostGone <-chan struct{}
	if p.options.HostGone != nil {
		hostGone = p.options.HostGone(watch)
	}
	stuck := make(chan struct{})
	go func() {
		if p.options.Sink.Stuck(watch, p.options.EOFTimeout) {
			close(stuck)
		}
	}()
	select {
	case <-idle:
		return reason
	case <-stuck:
		return ReaderStuck
	case <-ctx.Done():
		return Signal
	case <-p.options.Sink.Gone():
		return HostGone
	case <-hostGone:
		return HostGone
	}
}

// drain waits for the reader, while the model servers stop.
func (p *Pipeline) drain(ctx context.Context, reason Reason) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		bounded, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := p.options.Models.Close(bounded); err != nil {
			p.options.Logger.Warn("a model server did not stop in time", "error", err.Error())
		}
	}()
	err := p.closeSink(ctx, reason)
	select {
	case <-closed:
	case <-time.After(closeTimeout + killTimeout):
		p.options.Logger.Error("a model server can't be ended; its guardian goes on trying")
	}
	return err
}

func (p *Pipeline) closeSink(ctx context.Context, reason Reason) error {
	if reason == EndOfInput || reason == ReadFailed {
		err := p.options.Sink.Close(ctx, p.options.EOFTimeout)
		if err == nil || ctx.Err() == nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.options.ShutdownTimeout)
	defer cancel()
	p.farewell(bounded)
	return p.options.Sink.Close(bounded, 0)
}

// farewell answers a shutdown request behind the finals of what ran: replies overtake what waits, so
// the writer must have taken the finals first.
func (p *Pipeline) farewell(ctx context.Context) {
	select {
	case <-p.finals.allTaken():
	case <-p.options.Sink.Gone():
	case <-ctx.Done():
	}
	p.execute.Farewell()
}

// logStats tells the counters from time to time.
func (p *Pipeline) logStats(ctx context.Context) {
	if !p.options.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	tick := time.NewTicker(statsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s := p.stats()
			p.options.Logger.Debug("stats", "queue_frames", s.Queue.Frames, "queue_bytes", s.Queue.Bytes,
				"written_bytes", s.Written.Bytes, "batches", s.Written.Batches, "merged", s.Merged, "dropped", s.Dropped)
		}
	}
}
