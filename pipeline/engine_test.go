package pipeline

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/sinks/stdout"
	"sluice/sources/stdin"
	"sluice/stages/execute"
)

// engine is the whole graph over streams in memory, with scripted models, in a bubble.
type engine struct {
	*Pipeline
	t      *testing.T
	in     *testkit.Feed
	out    *testkit.Reader
	models *scriptedModels
	start  time.Time
	cancel context.CancelFunc // the signal
	ended  chan struct{}
	// Set before ended is closed.
	reason Reason
	err    error
	took   time.Duration
}

const (
	testShutdownTimeout = 2 * time.Second
	testEOFTimeout      = 30 * time.Second
	testLineBytes       = 2000
)

// graph joins an engine as cmd does.
func graph(ctx context.Context, in io.Reader, out io.Writer, models *scriptedModels, change func(*Options)) *Pipeline {
	sink := stdout.New(out, stdout.Options{})
	options := Options{
		Protocol: NDJSON(testLineBytes, false),
		Stdin:    stdin.New(in, stdin.Options{MaxLineBytes: testLineBytes, Gate: sink.Gate}),
		Sink:     sinkPort{sink},
		Models:   models,
		Execute: execute.Options{
			Agents: []execute.Agent{{Name: "assistant", Model: "m"}}, Version: "test", MaxParallelChats: 2, MaxPendingRequests: 2, Lossless: true,
		},
		ShutdownTimeout: testShutdownTimeout,
		EOFTimeout:      testEOFTimeout,
	}
	if change != nil {
		change(&options)
	}
	return New(ctx, options)
}

// bytewise writes a byte at a time, so that the sink sees how far a reader of single bytes has come:
// of a pipe in memory nobody can ask how much is unread.
type bytewise struct{ io.Writer }

func (b bytewise) Write(text []byte) (int, error) { return b.Writer.Write(text[:1]) }

// newEngine starts an engine with a host that reads at a pace.
func newEngine(t *testing.T, pace testkit.Pace, change func(*Options)) *engine {
	e := &engine{t: t, in: testkit.NewFeed(), models: &scriptedModels{}, start: time.Now(), ended: make(chan struct{})}
	target, reader := testkit.MemoryPipe(t, pace)
	e.out = reader
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.Background())
	var out io.Writer = target
	if pace.Chunk == 1 {
		out = bytewise{target}
	}
	e.Pipeline = graph(ctx, e.in, out, e.models, change)
	go func() {
		defer close(e.ended)
		e.reason, e.err = e.Run(ctx)
		e.took = time.Since(e.start)
		_ = target.Close()
	}()
	t.Cleanup(func() { _ = e.in.Close() })
	return e
}

func (e *engine) send(lines ...string) {
	if _, err := io.WriteString(e.in, strings.Join(lines, "\n")+"\n"); err != nil {
		e.t.Error(err)
	}
}

// end waits for the end of the engine and returns the lines of the host.
func (e *engine) end(reason Reason) []string {
	e.t.Helper()
	<-e.ended
	e.cancel()
	if e.reason != reason {
		e.t.Errorf("it ended because of %q; want %q", e.reason, reason)
	}
	if got := e.models.closed.Load(); got != 1 {
		e.t.Errorf("the models were closed %d times", got)
	}
	text, _ := e.out.All()
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// sinkPort is the sink as the pipeline sees it.
type sinkPort struct{ *stdout.Sink }

func (s sinkPort) Lane(id wire.ID) Lane { return s.Sink.Lane(id) }
func (s sinkPort) Replies() Lane        { return s.Sink.Replies() }
func (s sinkPort) Fill(stats *wire.Stats) {
	own := s.Stats()
	stats.Queue, stats.Written, stats.Merged, stats.Dropped, stats.StallReader = own.Queue, own.Written, own.Merged, own.Dropped, own.Stalls
}
