package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/wire"
)

// said is what a model says in one step.
type said struct {
	text  string
	calls []wire.ToolCall
	took  time.Duration
	err   error // after the text
}

// calling is a step that calls functions, each "ID FUNCTION" with the same arguments.
func calling(args string, calls ...string) said {
	var s said
	for _, call := range calls {
		var c wire.ToolCall
		_, _ = fmt.Sscan(call, &c.ID, &c.Function)
		c.Arguments = args
		s.calls = append(s.calls, c)
	}
	return s
}

// fakeModel plays its script, a step after the other, and the last one for ever. It has room for size
// tokens, of bytesEach bytes; without a size it has room for everything and doesn't tell.
type fakeModel struct {
	world  *world
	script []said
	played int
	// asked are the requests that were made; of each step the last one is that which was answered.
	asked []*wire.ModelRequest

	size, bytesEach int
	// hidden is a size that only the server itself knows.
	hidden int
	counts int
}

// Step implements Model as execute does: who was cancelled gets no slot.
func (m *fakeModel) Step(ctx context.Context, step int, prepare Prepare) (o Outcome, err error) {
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	request, err := prepare(ctx, m, nil)
	if err != nil {
		return o, err
	}
	m.world.note("llm_start %d", step)
	o.Began = true
	defer m.world.note("llm_done %d", step)
	m.asked = append(m.asked, request)
	if overflow := m.overflow(request); overflow != nil {
		m.world.note("overflow %d", step)
		if request, err = prepare(ctx, m, overflow); err != nil {
			return o, err
		}
		m.asked = append(m.asked, request)
		if overflow := m.overflow(request); overflow != nil {
			return o, overflow
		}
	}
	now := m.script[min(m.played, len(m.script)-1)]
	m.played++
	if err := pause(ctx, now.took); err != nil {
		o.Response = []byte("half")
		return o, err
	}
	o.Response, o.Calls, o.Finish = wire.AppendText(nil, now.text, false), now.calls, "stop"
	o.Usage = &wire.Usage{PromptTokens: 10, CompletionTokens: 1}
	return o, now.err
}

func (m *fakeModel) overflow(r *wire.ModelRequest) *wire.Overflow {
	limit := max(m.hidden, m.size)
	if limit == 0 || m.tokens(r) <= limit {
		return nil
	}
	return &wire.Overflow{Fault: wire.NewFault(wire.CodeInternal, "too long"), PromptTokens: m.tokens(r), ContextSize: limit}
}

// tokens counts a prompt: its bytes and 8 tokens for each message.
func (m *fakeModel) tokens(r *wire.ModelRequest) int {
	bytes, each := 0, max(m.bytesEach, 1)
	for _, message := range r.Messages {
		bytes += len(message.Content) + 8*each
	}
	for _, tool := range r.Tools {
		bytes += len(tool.Description) + len(tool.Schema)
	}
	return bytes / each
}

// ContextSize implements Window.
func (m *fakeModel) ContextSize(context.Context) int { return m.size }

// Count implements Window.
func (m *fakeModel) Count(_ context.Context, r *wire.ModelRequest) (int, error) {
	m.counts++
	if m.size == 0 {
		return 0, errors.New("it doesn't tell")
	}
	return m.tokens(r), nil
}

// last is the request that was answered last.
func (m *fakeModel) last() *wire.ModelRequest { return m.asked[len(m.asked)-1] }
