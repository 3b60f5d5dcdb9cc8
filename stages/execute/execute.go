package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// ErrShutdown is the cause with which Push ends the reading of stdin after the method shutdown.
var ErrShutdown = errors.New("execute: shutdown was requested")

// Agent is one agent of the configuration.
type Agent struct {
	// Model is the name of the model that answers.
	Name, Model, SystemPrompt string
	// MaxSteps bounds the model steps of a turn; 0 stands for 1.
	MaxSteps int
	// MaxTokens bounds each step's answer; 0 leaves it to the server.
	MaxTokens   int
	Temperature *float64
	// Tools are globs on server/tool.
	Tools []string
}

// Options are what execute works with. Models, Output and Stats must be set.
type Options struct {
	Agents  []Agent
	Version string
	// MaxParallelChats chats run at once; at most MaxPendingRequests of at most MaxPendingBytes of
	// request lines wait. The zero values stand for 16, 1,024 and 64 MiB.
	MaxParallelChats, MaxPendingRequests int
	MaxPendingBytes                      int64
	// MaxParseErrors is how often a model is asked again for a tool call that can't be read; 0 is never.
	MaxParseErrors int
	// ApprovalTimeout is how long a host may take to approve of a tool call; 0 stands for 2 minutes.
	ApprovalTimeout time.Duration
	// ToolResultBytes is how much of a tool's result the model gets to see; 0 stands for 64 KiB.
	ToolResultBytes int
	// ASCII escapes everything outside ASCII in a chat's response.
	ASCII bool
	// Lossless is what initialize says of lossless_chunks.
	Lossless bool
	// Unconfigured, when set, is what a chat is answered: there is no configuration.
	Unconfigured *wire.Fault
	Models       Models
	Output       Output
	// Tools and Sessions may be nil: no tools, and each chat starts afresh. Nil Memory is none.
	Tools    agent.Tools
	Sessions agent.Sessions
	Memory   agent.Memory
	// RPC, when set, makes this the end of JSON-RPC instead of NDJSON.
	RPC *RPC
	// Planner and Doctor may be nil: then there is nothing to ask.
	Planner Planner
	Doctor  Doctor
	// Stats returns the engine's counters; execute adds the chats.
	Stats  func() *wire.Stats
	Logger *slog.Logger
}

// Execute is the last stage of the inbound graph, a go-streams Sink that fuses.
type Execute struct {
	options Options
	// ctx is the parent of every chat, cancelled by Stop.
	ctx  context.Context
	stop context.CancelCauseFunc

	running   sync.WaitGroup
	queue     admission
	arrivals  arrivals
	chats     registry
	answers   answers
	approvals approvals

	mu         sync.Mutex
	closed     bool       // set by Wait: nothing more is accepted
	extensions Extensions // set by initialize
	shutdown   []wire.ID  // ids of shutdown requests, answered by Farewell

	// Of JSON-RPC, owned by the goroutine that pushes.
	initialized bool            // set by a good initialize
	ordered     <-chan struct{} // the place of the newest message in the order of arrival; nil before

	inlet sync.Once
	in    chan any      // created by In
	done  chan struct{} // closed by Done
}

// New returns an Execute that accepts requests at once. ctx carries values only; Stop ends chats.
func New(ctx context.Context, options Options) *Execute {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	options.MaxParallelChats = cmp.Or(options.MaxParallelChats, 16)
	options.ToolResultBytes = cmp.Or(options.ToolResultBytes, 64<<10)
	if options.Tools == nil {
		options.Tools = noTools{}
	}
	if options.Sessions == nil {
		options.Sessions = noSessions{}
	}
	e := &Execute{options: options, done: make(chan struct{})}
	e.ctx, e.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	e.queue = admission{
		free:       options.MaxParallelChats,
		maxWaiting: cmp.Or(options.MaxPendingRequests, 1024),
		maxBytes:   cmp.Or(options.MaxPendingBytes, 64<<20),
	}
	e.chats.byID = map[wire.ID]*chat{}
	e.answers.count = map[answered]int64{}
	e.approvals = approvals{
		timeout: cmp.Or(options.ApprovalTimeout, 2*time.Minute), closed: make(chan struct{}),
		pending: map[question]asked{}, approved: map[approval]struct{}{},
	}
	return e
}

// Push serves a batch of *wire.Requests. It returns ErrShutdown after a shutdown request; what stands
// behind it in the batch is not served. It returns an error for an element of any other type, which
// only a foreign operator can send. It waits while the reader owes us room: one read may bring
// thousands of requests, and the reply to each may be far longer than they are.
func (e *Execute) Push(ctx context.Context, element any) error {
	requests, ok := element.(*wire.Requests)
	if !ok {
		return fmt.Errorf("execute: it takes *wire.Requests, not %T", element)
	}
	for i := range requests.Items {
		if i > 0 { // for the first the source has waited, before it read
			if err := e.options.Output.Gate(ctx); err != nil {
				return err
			}
		}
		if !e.serve(&requests.Items[i]) {
			return ErrShutdown
		}
	}
	return nil
}

// serve handles one request and reports whether more may follow.
func (e *Execute) serve(r *wire.Request) (more bool) {
	defer func() {
		if fault := e.recovered(recover()); fault != nil {
			e.answer(r, fault)
			more = true
		}
	}()
	if e.options.RPC != nil {
		return e.serveRPC(r)
	}
	if r.Fault != nil {
		e.reply(r.Method, r.ID, r.Fault)
		return true
	}
	switch r.Method {
	case wire.MethodPing:
		e.reply(r.Method, r.ID, &pong)
	case wire.MethodInitialize:
		e.reply(r.Method, r.ID, e.initialize(r.Params.(*wire.InitializeParams)))
	case wire.MethodCancel:
		e.reply(r.Method, r.ID, e.cancel(r.Params.(*wire.CancelParams)))
	case wire.MethodApprove:
		e.reply(r.Method, r.ID, e.approve(r.Params.(*wire.ApproveParams)))
	case wire.MethodStats:
		e.reply(r.Method, r.ID, e.Stats())
	case wire.MethodChat:
		e.acceptChat(r)
	case wire.MethodWarmup:
		e.acceptWarmup(r)
	case wire.MethodPlan:
		e.acceptPlan(r)
	case wire.MethodDoctor:
		e.acceptDoctor(r)
	case wire.MethodShutdown:
		e.promiseFarewell(r.ID)
		return false
	}
	return true
}

// Stop cancels everything that runs or waits; each ends with its own final frame.
func (e *Execute) Stop(cause error) { e.stop(cause) }

// begin counts an accepted request; false when nothing more is accepted.
func (e *Execute) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.running.Add(1)
	return true
}

func stopping() *wire.Fault {
	return wire.NewFault(wire.CodeCancelled, "the engine is shutting down; start a new one")
}

// Wait accepts nothing more and blocks until every accepted request has had its final frame.
func (e *Execute) Wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.running.Wait()
}

// Farewell answers the shutdown requests. It is called after Wait.
func (e *Execute) Farewell() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range e.shutdown {
		e.reply(wire.MethodShutdown, id, &wire.ShutdownDone{})
	}
	e.shutdown = nil
}

// Done says that no request follows; what runs goes on.
func (e *Execute) Done(error) { close(e.done) }

// DenyApprovals says that no host can answer any more, though what runs goes on: what is pending is denied,
// and nothing more is asked. It is called at most once, and not where Stop follows.
func (e *Execute) DenyApprovals() { close(e.approvals.closed) }

// In returns a channel for go-streams operators that are not ours.
func (e *Execute) In() chan<- any {
	e.inlet.Do(func() {
		e.in = make(chan any)
		go wire.FromChannel(e.ctx, e.in, e)
	})
	return e.in
}

// AwaitCompletion blocks until Done.
func (e *Execute) AwaitCompletion() { <-e.done }
