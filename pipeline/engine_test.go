package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reugn/go-streams"

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

// scriptedModels are servers that take a second to load and then stream what the chat's input says.
type scriptedModels struct {
	closed atomic.Int64
	// close is called by Close.
	close func(ctx context.Context) error
}

// Acquire implements execute.Models.
func (m *scriptedModels) Acquire(ctx context.Context, _ string, phase func(wire.Phase)) (execute.Lease, error) {
	phase(wire.PhaseModelLoad)
	return scriptedLease{}, pause(ctx, time.Second)
}

// Warm implements execute.Models.
func (m *scriptedModels) Warm(ctx context.Context, _ string) error { return pause(ctx, time.Second) }

// Close implements Models.
func (m *scriptedModels) Close(ctx context.Context) error {
	m.closed.Add(1)
	if m.close != nil {
		return m.close(ctx)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type scriptedLease struct{}

func (scriptedLease) Release()                            {}
func (scriptedLease) Waited() (queue, load time.Duration) { return 0, time.Second }
func (scriptedLease) ContextSize(context.Context) int     { return 0 }
func (scriptedLease) Count(context.Context, *wire.ModelRequest) (int, error) {
	return 0, errors.New("it doesn't tell")
}
func (scriptedLease) Idle(ctx context.Context) bool { return pause(ctx, 100*time.Millisecond) == nil }
func (scriptedLease) Stream(request *wire.ModelRequest) TokenSource {
	return &scriptedStream{script: request.Messages[len(request.Messages)-1].Content}
}

const closeTime = 10 * time.Millisecond

// scriptedStream is a stream of one batch a second, a word of the script each: tokens joined by "+",
// reasoning in parentheses. PROGRESS is prompt progress, CALL a piece of a tool call, FAIL a fault, HANG waits to be cancelled, PANIC panics.
// What is cancelled takes closeTime to end.
type scriptedStream struct {
	script   string
	next     wire.Stage
	tokens   int64
	read     int64 // of a prompt of two tokens
	upstream time.Duration
}

// Via implements streams.Source.
func (s *scriptedStream) Via(flow streams.Flow) streams.Flow {
	s.next = wire.Downstream(flow)
	return flow
}

// Out implements streams.Source.
func (s *scriptedStream) Out() <-chan any {
	out := make(chan any)
	s.next = wire.ToChannel(out)
	return out
}

// Upstream implements TokenSource.
func (s *scriptedStream) Upstream() time.Duration { return s.upstream }

// Run implements Source.
func (s *scriptedStream) Run(ctx context.Context) error {
	start := time.Now()
	cause := s.run(ctx)
	s.upstream = time.Since(start)
	s.next.Done(cause)
	return cause
}

func (s *scriptedStream) run(ctx context.Context) error {
	for word := range strings.FieldsSeq(s.script) {
		if err := pause(ctx, time.Second); err != nil {
			time.Sleep(closeTime)
			return err
		}
		if err := s.play(ctx, word); err != nil {
			return err
		}
	}
	return s.next.Push(ctx, &wire.Tokens{Finish: "stop", Usage: &wire.Usage{PromptTokens: 1, CompletionTokens: s.tokens}})
}

func (s *scriptedStream) play(ctx context.Context, word string) error {
	switch word {
	case "FAIL":
		return wire.NewFault(wire.CodeInternal, "the server said 500")
	case "HANG":
		<-ctx.Done()
		time.Sleep(closeTime)
		return context.Cause(ctx)
	case "PROGRESS":
		s.read++
		return s.next.Push(ctx, &wire.Tokens{Progress: &wire.PromptProgress{Total: 2, Processed: s.read}})
	case "CALL":
		return s.next.Push(ctx, &wire.Tokens{Calls: []wire.CallDelta{{Arguments: "{"}}})
	case "PANIC":
		panic("told to")
	}
	kind := wire.TokenContent
	if inner, ok := strings.CutPrefix(word, "("); ok {
		kind, word = wire.TokenReasoning, strings.TrimSuffix(inner, ")")
	}
	var batch wire.Tokens
	for token := range strings.SplitSeq(word, "+") {
		batch.Items = append(batch.Items, wire.Token{Kind: kind, Raw: []byte(token)})
		s.tokens++
	}
	return s.next.Push(ctx, &batch)
}
