package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/report"
)

// bench goes through its plan, one run after the other, and puts what they came to into its report.
type bench struct {
	plan    []benchLoad
	console *console
	report  *report.Report
}

// run returns an error when nothing could be measured, or the load server did not end well.
func (b *bench) run(ctx context.Context, target benchTarget) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	session, err := measure.Open(ctx, measure.Options{
		Engine: self, LoadServer: []string{self, benchServerCommand}, URL: target.url, Env: target.environment(),
	})
	if err != nil {
		return err
	}
	defer b.console.clear()
	for index, l := range b.plan {
		position := fmt.Sprintf("%d/%d", index+1, len(b.plan))
		b.add(l, b.measure(ctx, session, l, position))
		if b.report.Interrupted {
			break
		}
	}
	b.report.Compare()
	if err := session.Close(); err != nil && !b.report.Interrupted {
		return err
	}
	return nil
}

// add puts a run into the report. Of a later round it adds the stream time to the first one's, and
// tells what went wrong.
func (b *bench) add(l benchLoad, run *report.Run) {
	whole := run.Error == "" && run.Cut == ""
	first := run
	if l.again {
		first = b.first(l.label)
	}
	if whole && first != nil && run.StreamSeconds > 0 {
		first.StreamTimes = append(first.StreamTimes, run.StreamSeconds)
	}
	if !l.again || run.Error != "" {
		b.report.Runs = append(b.report.Runs, run)
	}
}

// first returns the run of the first round, nil when that wasn't measured to its end.
func (b *bench) first(label string) *report.Run {
	for _, run := range b.report.Runs {
		if run.Label == label && run.Error == "" && run.Cut == "" {
			return run
		}
	}
	return nil
}

// interruptGrace is how long an error may come before the interrupt that caused it: a terminal sends
// Ctrl-C to the engine too.
const interruptGrace = 300 * time.Millisecond

func (b *bench) measure(ctx context.Context, session *measure.Session, l benchLoad, position string) *report.Run {
	var progress lastSample
	b.console.status(progressText(position, l, measure.Sample{}))
	l.Progress = func(sample measure.Sample) {
		progress.set(sample)
		b.console.status(progressText(position, l, sample))
	}
	bounded, cancel := b.bounded(ctx, l)
	defer cancel()
	result, err := session.Run(bounded, l.Load)
	b.console.clear()
	run := &report.Run{Label: l.label, Result: result}
	if err == nil {
		run.BeyondBound = l.MayLose && beyondBound(l.Load, result.Sent)
		return run
	}
	switch {
	case b.interrupted(ctx):
		b.report.Interrupted = true
		run.Cut = "interrupted"
	case errors.Is(bounded.Err(), context.DeadlineExceeded):
		run.Cut = "ended by --duration"
	default:
		run.Error = strings.Join(strings.Fields(err.Error()), " ")
		return run
	}
	run.Result = partial(l, progress.samples())
	return run
}

// bounded ends a run of a server of the user's own after --duration; the load server keeps it itself.
func (b *bench) bounded(ctx context.Context, l benchLoad) (context.Context, context.CancelFunc) {
	seconds := b.report.Setting.DurationSeconds
	if l.During > 0 || seconds == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
}

func (b *bench) interrupted(ctx context.Context) bool {
	grace := time.NewTimer(interruptGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-grace.C:
		return false
	}
}

// lastSample keeps the samples of a run for the case that nothing else remains of it.
type lastSample struct {
	mu    sync.Mutex
	taken []measure.Sample
}

func (s *lastSample) set(sample measure.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, sample)
}

func (s *lastSample) samples() []measure.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// partial is what is known of a run that was cut; nil when that is nothing.
func partial(l benchLoad, samples []measure.Sample) *measure.Result {
	if len(samples) == 0 {
		return nil
	}
	last := samples[len(samples)-1]
	sent := max(last.Sent, last.Received) // a server of the user's own isn't asked what it sent
	r := &measure.Result{
		Reader: l.Reader.Reader, SocketPair: l.SocketPair, Policy: l.Policy, Streams: l.Streams, Rate: l.Rate,
		Sent: int(sent), Tokens: int(last.Received), Seconds: last.Seconds, Samples: samples,
	}
	for _, sample := range samples {
		if max(sample.Sent, sample.Received) == sent { // from then on nothing came any more
			r.EventsPerSecond = float64(sent) / sample.Seconds
			break
		}
	}
	return r
}

const progressWidth = 20

// progressText is one line of less than 80 ASCII characters, with what a console adds.
func progressText(position string, l benchLoad, sample measure.Sample) string {
	text := position + " " + l.label + " "
	if part := progress(l, sample); part > 0 {
		done := int(min(progressWidth, part*progressWidth))
		text += "[" + strings.Repeat("#", done) + strings.Repeat(".", progressWidth-done) + "] "
	}
	if sample.Sent == 0 {
		return text + report.Scaled(float64(sample.Received)) + " received"
	}
	text += report.Scaled(float64(sample.Sent)) + " sent"
	if waiting := sample.Sent - sample.Received; l.Reader.Reader != host.ReaderFast && waiting > 0 {
		text += ", " + report.Scaled(float64(waiting)) + " unread"
	}
	return text
}

// progress is which part of its stream, and of its reader's slow time, a run has behind it; 0 where
// nobody knows.
func progress(l benchLoad, sample measure.Sample) float64 {
	part := 0.0
	switch {
	case l.During > 0:
		part = sample.Seconds / l.During.Seconds()
	case sample.Sent > 0:
		part = float64(sample.Sent) / float64(l.Tokens*l.Streams)
	}
	if l.Reader.Slow() && part > 0 {
		part = min(part, sample.Seconds/l.SlowFor.Seconds())
	}
	return part
}
