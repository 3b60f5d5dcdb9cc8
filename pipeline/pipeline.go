package pipeline

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute"
	"sluice/stages/transform"
)

// Options are what the graph is made of and how it ends.
type Options struct {
	Protocol Protocol
	Stdin    Source
	Sink     Sink
	Models   Models
	// Execute is passed on; pipeline sets its Models, Output and Stats.
	Execute execute.Options
	// ShutdownTimeout bounds the drain after a shutdown or signal; EOFTimeout is how long the reader
	// may take no byte in the drain after the end of input.
	ShutdownTimeout, EOFTimeout time.Duration
	// InputEnded, when set, is called while stdin is held back and closes its channel when the host has
	// closed its end, unread input or not. It ends with ctx.
	InputEnded func(ctx context.Context) <-chan struct{}
	// HostGone, when set, is called at the end of input and closes its channel when nobody can read
	// stdout any more, before a write would tell. It ends with ctx.
	HostGone func(ctx context.Context) <-chan struct{}
	// StallThreshold is from when a pause in a stream counts as a stall; 0 stands for 250 ms.
	StallThreshold time.Duration
	// OnStall, when set, is told of each stall of a model server or of ours once it has ended, by the
	// chat's goroutine. It must not wait.
	OnStall func(stall wire.Stall)
	Logger  *slog.Logger
}

// Pipeline is the running engine.
type Pipeline struct {
	options  Options
	execute  *execute.Execute
	replies  replies
	stalls   *stalls
	finals   finals
	chatTime chatTime
	started  time.Time
	counters counters
}

type counters struct{ parse, validate, route, transform, encode Counter }

// New joins the inbound graph. Nothing runs before Run.
func New(ctx context.Context, options Options) *Pipeline {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{options: options, started: time.Now()}
	p.replies.lane = options.Sink.Replies()
	p.stalls = newStalls(cmp.Or(options.StallThreshold, 250*time.Millisecond))
	p.stalls.depth, p.stalls.report = p.depth, options.OnStall
	p.counters.parse.name, p.counters.validate.name, p.counters.route.name = "parse", "validate", "route"
	p.counters.transform.name, p.counters.encode.name = "transform", "encode"

	options.Execute.Models, options.Execute.Output, options.Execute.Stats = options.Models, p, p.stats
	options.Execute.ASCII = options.Protocol.ASCII
	p.execute = execute.New(ctx, options.Execute)

	options.Stdin.
		Via(NewFlow(&p.counters.parse, options.Protocol.Parse, nil)).
		Via(NewFlow(&p.counters.validate, options.Protocol.Validate, nil)).
		Via(NewFlow(&p.counters.route, options.Protocol.Route, nil)).
		To(p.execute)
	return p
}

// Step implements execute.Chat: it joins one model step's graph and runs it.
func (c *chat) Step(ctx context.Context, lease execute.Lease, step int, request *wire.ModelRequest, tokens func(int64)) (execute.Outcome, error) {
	source := lease.(Lease).Stream(request)
	state := transform.New(transform.Options{Step: step, ASCII: c.pipeline.options.Protocol.ASCII, Reasoning: c.reasoning})
	c.progress.stepBegins()
	defer c.progress.stepEnds()
	outcome, err := c.stream(ctx, source, state, tokens)
	if cut := state.Cut(); cut != (transform.Cut{}) {
		c.pipeline.options.Logger.Warn("a step made more tool calls than are kept", "request", string(c.id), "step", step,
			"pieces_left_out", cut.Pieces, "arguments_too_long", cut.TooLong)
	}
	return outcome, err
}

// Relay implements execute.Chat: the graph is the same for the run of a gateway.
func (c *chat) Relay(ctx context.Context, run execute.Run, tokens func(int64)) (execute.Outcome, error) {
	state := transform.New(transform.Options{ASCII: c.pipeline.options.Protocol.ASCII, Forget: true})
	return c.stream(ctx, run.(TokenSource), state, tokens)
}

func (c *chat) stream(ctx context.Context, source TokenSource, state *transform.Step, tokens func(int64)) (execute.Outcome, error) {
	tap := tap{apply: state.Apply, tokens: tokens, stalls: c.pipeline.stalls, progress: c.progress, id: c.id}
	c.pipeline.stalls.enter(&tap)
	defer c.pipeline.stalls.leave(&tap)

	source.
		Via(NewFlow(&c.pipeline.counters.transform, tap.observe, state.Flush)).
		Via(NewFlow(&c.pipeline.counters.encode, c.encode, nil)).
		To(stepSink{c.lane, &tap})
	err := source.Run(ctx)

	return execute.Outcome{
		Response:   state.Response(),
		Calls:      state.Calls(),
		Finish:     state.Finish(),
		Usage:      state.Usage(),
		FirstToken: tap.first,
		Upstream:   source.Upstream(),
	}, err
}

// Stats returns the counters of this moment.
func (p *Pipeline) Stats() *wire.Stats { return p.execute.Stats() }

// depth is what waits in the sink.
func (p *Pipeline) depth() wire.QueueStats {
	var s wire.Stats
	p.options.Sink.Fill(&s)
	return s.Queue
}

// stats gathers the counters of all stages but the chats, which execute adds.
func (p *Pipeline) stats() *wire.Stats {
	s := &wire.Stats{Uptime: time.Since(p.started)}
	p.options.Sink.Fill(s)
	s.StallUpstream, s.StallEngine = p.stalls.stats()
	s.ChatTime = p.chatTime.sum()
	for _, c := range []*Counter{&p.counters.parse, &p.counters.validate, &p.counters.route, &p.counters.transform, &p.counters.encode} {
		s.Stages = append(s.Stages, c.stats())
	}
	return s
}
