package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/wire"
)

// fakeOutput writes down what is handed over, each with the time since the start.
type fakeOutput struct {
	start time.Time

	mu      sync.Mutex
	log     []string
	replies map[wire.ID][]wire.Reply
	chats   []*fakeChat
	gate    chan struct{} // non-nil while the gate is closed
	finals  chan wire.ID  // when set, told of each final frame
}

func (o *fakeOutput) note(id wire.ID, what string) {
	o.log = append(o.log, fmt.Sprintf("%s %s %s", time.Since(o.start), id, what))
}

func (o *fakeOutput) taken() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	log := o.log
	o.log = nil
	return log
}

func (o *fakeOutput) last(id wire.ID) wire.Reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.replies[id]); n > 0 {
		return o.replies[id][n-1]
	}
	return nil
}

// done returns how the newest chat of an id ended; nil when it hasn't.
func (o *fakeOutput) done(id wire.ID) *wire.ChatDone {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range slices.Backward(o.chats) {
		if c.id == id && len(c.finals) > 0 {
			return c.finals[0]
		}
	}
	return nil
}

// Reply implements Output.
func (o *fakeOutput) Reply(id wire.ID, reply wire.Reply) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.replies == nil {
		o.replies = map[wire.ID][]wire.Reply{}
	}
	o.replies[id] = append(o.replies[id], reply)
	if fault, ok := reply.(*wire.Fault); ok {
		o.note(id, string(fault.Code))
		return
	}
	o.note(id, fmt.Sprintf("%T", reply)[len("*wire."):])
}

// Chat implements Output.
func (o *fakeOutput) Chat(id wire.ID, extensions Extensions) Chat {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &fakeChat{out: o, id: id, extensions: extensions}
	o.chats = append(o.chats, c)
	return c
}

// Gate implements Output.
func (o *fakeOutput) Gate(ctx context.Context) error {
	o.mu.Lock()
	gate := o.gate
	o.mu.Unlock()
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fakeChat is the output of one chat. Its model step does what the input says.
type fakeChat struct {
	out        *fakeOutput
	id         wire.ID
	extensions Extensions

	// Guarded by out.mu.
	events []wire.EventKind
	finals []*wire.ChatDone
	late   int // events behind the final frame
	asked  *wire.ModelRequest
	steps  int
	calls  []wire.ToolApproval // that were asked for
	ends   []wire.ToolStatus   // of tool calls
}

var names = map[wire.EventKind]string{
	wire.EventRunStart: "run_start", wire.EventLLMStart: "llm_start", wire.EventLLMDone: "llm_done", wire.EventFinal: "final",
	wire.EventToolStart: "tool_start", wire.EventToolDone: "tool_done", wire.EventToolApproval: "tool_approval",
}

// Event implements Chat.
func (c *fakeChat) Event(event wire.Event) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.events = append(c.events, event.Kind)
	switch d := event.Detail.(type) {
	case *wire.ToolApproval:
		c.calls = append(c.calls, *d)
	case *wire.ToolDone:
		c.ends = append(c.ends, d.Status)
	}
	if len(c.finals) > 0 {
		c.late++
	}
	c.out.note(c.id, names[event.Kind])
}

var notReady = &wire.NotReady{Fault: wire.NewFault(wire.CodeInternal, "the server went away")}

// Step implements Chat.
func (c *fakeChat) Step(ctx context.Context, _ Lease, _ int, r *wire.ModelRequest, tokens func(int64)) (Outcome, error) {
	c.out.mu.Lock()
	c.asked = r
	c.steps++
	c.out.mu.Unlock()
	input := r.Messages[len(r.Messages)-1].Content
	tokens(3)
	if functions, calls := strings.CutPrefix(input, "call "); calls {
		return Outcome{Calls: called(functions), Finish: "tool_calls"}, nil
	}
	switch input {
	case "panic":
		panic("told to")
	case "fail":
		return Outcome{Response: []byte("half")}, fmt.Errorf("wrapped: %w", wire.NewFault(wire.CodeInternal, "the server said 500"))
	case "never ready":
		return Outcome{}, notReady
	case "ready the third time":
		if c.steps < 3 {
			return Outcome{}, notReady
		}
	case "odd":
		return Outcome{}, errors.New("a key is s3cret")
	}
	long, err := time.ParseDuration(input)
	if err != nil {
		long = 0
	}
	if err := sleep(ctx, long); err != nil {
		return Outcome{Response: []byte("half"), Upstream: long / 2}, err
	}
	return Outcome{Response: []byte("whole"), Finish: "stop", Usage: &wire.Usage{CompletionTokens: 3}, FirstToken: time.Now(), Upstream: long / 2}, nil
}

// called are calls of functions, with ids that count.
func called(functions string) (calls []wire.ToolCall) {
	for i, function := range strings.Fields(functions) {
		calls = append(calls, wire.ToolCall{ID: fmt.Sprint("call", i), Function: function, Arguments: "{}"})
	}
	return calls
}

// Accept implements Chat.
func (c *fakeChat) Accept(id wire.ID, reply wire.Reply) { c.out.Reply(id, reply) }

// Relay implements Chat.
func (c *fakeChat) Relay(ctx context.Context, run Run, tokens func(int64)) (Outcome, error) {
	return run.(*fakeRun).play(ctx, tokens)
}

// Progress implements Chat.
func (c *fakeChat) Progress(*wire.Progress) {}

// Finish implements Chat.
func (c *fakeChat) Finish(done *wire.ChatDone) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.finals = append(c.finals, done)
	what := "result"
	if done.Fault != nil {
		what = string(done.Fault.Code)
	}
	c.out.note(c.id, what)
	if c.out.finals != nil {
		c.out.finals <- c.id
	}
}
