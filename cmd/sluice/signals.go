package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

var errSignal = errors.New("sluice: a signal came")

// withSignals returns a context that the first SIGTERM, SIGINT or SIGHUP ends; a second one ends the
// process at once. SIGPIPE is caught and ignored, so that a reader of stdout that has gone is an
// error of the write and not the end of the process. stop undoes it.
func withSignals(ctx context.Context, log *slog.Logger) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	pipes := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Notify(pipes, syscall.SIGPIPE)
	stopped := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-stopped:
				return
			case s := <-signals:
				if !first {
					os.Exit(exitFailed)
				}
				log.Info("stopping", "signal", s.String())
				cancel(errSignal)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(stopped)
		cancel(nil)
	}
}
