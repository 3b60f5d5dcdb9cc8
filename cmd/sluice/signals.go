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
// process at once. stop undoes it. SIGPIPE is caught and ignored for good, so that a reader of stdout
// or stderr that has gone is an error of the write and not the end of the process: the log is written
// to the very end.
func withSignals(ctx context.Context, log *slog.Logger) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
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
		close(stopped)
		cancel(nil)
	}
}
