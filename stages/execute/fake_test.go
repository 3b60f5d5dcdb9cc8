package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// world is an Execute between fake models and a fake output, in a bubble.
type world struct {
	*Execute
	t      *testing.T
	out    *fakeOutput
	models *fakeModels
}

// inWorld runs a test on the bubble's clock; whatever it left running is stopped.
func inWorld(t *testing.T, options Options, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, out: &fakeOutput{start: time.Now()}, models: &fakeModels{idle: 100 * time.Millisecond}}
		options := options
		options.Models, options.Output = w.models, w.out
		if options.Agents == nil {
			options.Agents = agents
		}
		options.Stats = func() *wire.Stats { return &wire.Stats{Merged: 7} }
		w.Execute = New(context.Background(), options)
		test(w)
		w.Stop(errors.New("the test is over"))
		w.Wait()
	})
}

// agents have models that behave as their names say.
var agents = []Agent{
	{Name: "assistant", Model: "ready"}, {Name: "slow", Model: "slow"}, {Name: "broken", Model: "broken"}, {Name: "panics", Model: "panics"},
}

func request(id wire.ID, method wire.Method, params any, size int) wire.Request {
	return wire.Request{ID: id, Method: method, Params: params, Size: size}
}

func (w *world) push(requests ...wire.Request) error {
	return w.Push(context.Background(), &wire.Requests{Items: requests})
}

// chat pushes chats of the first agent that take a time each, and waits until nothing moves.
func (w *world) chat(input string, ids ...wire.ID) {
	w.t.Helper()
	for _, id := range ids {
		w.chatWith(id, &wire.ChatParams{Input: input})
	}
}

func (w *world) chatWith(id wire.ID, params *wire.ChatParams) {
	w.t.Helper()
	if err := w.push(request(id, wire.MethodChat, params, 10)); err != nil {
		w.t.Error(err)
	}
	synctest.Wait()
}

// ask pushes a request that is answered at once and returns the answer.
func (w *world) ask(method wire.Method, params any) wire.Reply {
	w.t.Helper()
	if err := w.push(request("ask", method, params, 10)); err != nil {
		w.t.Error(err)
	}
	return w.out.last("ask")
}

func (w *world) cancelling(target wire.ID) wire.Reply {
	w.t.Helper()
	return w.ask(wire.MethodCancel, &wire.CancelParams{Target: target})
}

// saying compares what was handed over since the last time.
func (w *world) saying(want ...string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.out.taken(); !slices.Equal(got, want) {
		w.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// after lets time pass.
func (w *world) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

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
}

var names = map[wire.EventKind]string{
	wire.EventRunStart: "run_start", wire.EventLLMStart: "llm_start", wire.EventLLMDone: "llm_done", wire.EventFinal: "final",
}

// Event implements Chat.
func (c *fakeChat) Event(event wire.Event) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.events = append(c.events, event.Kind)
	if len(c.finals) > 0 {
		c.late++
	}
	c.out.note(c.id, names[event.Kind])
}

// Step implements Chat.
func (c *fakeChat) Step(ctx context.Context, _ Lease, _ int, r *wire.ModelRequest, tokens func(int64)) (Outcome, error) {
	c.out.mu.Lock()
	c.asked = r
	c.out.mu.Unlock()
	input := r.Messages[len(r.Messages)-1].Content
	tokens(3)
	switch input {
	case "panic":
		panic("told to")
	case "fail":
		return Outcome{Response: []byte("half")}, fmt.Errorf("wrapped: %w", wire.NewFault(wire.CodeInternal, "the server said 500"))
	case "odd":
		return Outcome{}, errors.New("a key is s3cret")
	}
	long, err := time.ParseDuration(input)
	if err != nil {
		long = 0
	}
	select {
	case <-time.After(long):
		return Outcome{Response: []byte("whole"), Finish: "stop", Usage: &wire.Usage{CompletionTokens: 3}, FirstToken: time.Now(), Upstream: long / 2}, nil
	case <-ctx.Done():
		return Outcome{Response: []byte("half"), Upstream: long / 2}, context.Cause(ctx)
	}
}

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

// fakeModels are servers that are idle a time after a cancel, or never (0).
type fakeModels struct {
	idle        time.Duration
	queue, load time.Duration
	mu          sync.Mutex
	leases, max int
}

// Acquire implements Models.
func (m *fakeModels) Acquire(ctx context.Context, model string, phase func(wire.Phase)) (Lease, error) {
	switch model {
	case "panics":
		panic("told to")
	case "broken":
		return nil, wire.NewFault(wire.CodeModelMissing, "no such file")
	case "slow":
		for _, p := range []wire.Phase{wire.PhaseServerStart, wire.PhaseModelLoad, wire.PhaseQueue} {
			phase(p)
			if err := sleep(ctx, time.Minute); err != nil {
				return nil, err
			}
		}
	}
	time.Sleep(m.queue + m.load)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leases++
	m.max = max(m.max, m.leases)
	return &fakeLease{models: m}, nil
}

// Warm implements Models.
func (m *fakeModels) Warm(ctx context.Context, model string) error {
	lease, err := m.Acquire(ctx, model, func(wire.Phase) {})
	if err == nil {
		lease.Release()
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type fakeLease struct {
	models *fakeModels
	once   sync.Once
}

// Release implements Lease.
func (l *fakeLease) Release() {
	l.once.Do(func() {
		l.models.mu.Lock()
		defer l.models.mu.Unlock()
		l.models.leases--
	})
}

// Waited implements Lease.
func (l *fakeLease) Waited() (queue, load time.Duration) { return l.models.queue, l.models.load }

// Idle implements Lease.
func (l *fakeLease) Idle(ctx context.Context) bool {
	if l.models.idle == 0 {
		<-ctx.Done()
		return false
	}
	return sleep(ctx, l.models.idle) == nil
}
