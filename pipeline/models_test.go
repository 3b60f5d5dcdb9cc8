package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// scriptedModels are servers that take a second to load and then stream what the chat's input says. What is
// cancelled takes closeTime to end, so that a transcript can tell that the answer to the cancel comes first.
type scriptedModels struct {
	closed atomic.Int64
	// close is called by Close.
	close func(ctx context.Context) error
}

// Acquire implements execute.Models.
func (m *scriptedModels) Acquire(ctx context.Context, model string, phase func(wire.Phase)) (execute.Lease, error) {
	phase(wire.PhaseModelLoad)
	if err := pause(ctx, time.Second); err != nil {
		time.Sleep(closeTime)
		return nil, err
	}
	return scriptedLease{model, time.Now()}, nil
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
	if d <= 0 { // a timer that is due at once crashes the race detector in a bubble now and then (Go 1.26)
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// scriptedLease is a slot of a model. That named small tells that it has room for contextSize tokens, that
// named strict refuses what is longer without having told; the others have room for everything. The start of
// that named planned took 300 ms to plan.
type scriptedLease struct {
	model string
	ready time.Time
}

const contextSize = 400

func (scriptedLease) Release()                            {}
func (scriptedLease) Waited() (queue, load time.Duration) { return 0, time.Second }
func (l scriptedLease) Planned() (began, ended time.Time) {
	if l.model != "planned" {
		return
	}
	began = l.ready.Add(-time.Second)
	return began, began.Add(300 * time.Millisecond)
}
func (l scriptedLease) ContextSize(context.Context) int {
	if l.model == "small" {
		return contextSize
	}
	return 0
}
func (l scriptedLease) Count(_ context.Context, request *wire.ModelRequest) (int, error) {
	if l.model == "small" {
		return promptTokens(request), nil
	}
	return 0, errors.New("it doesn't tell")
}
func (scriptedLease) Idle(ctx context.Context) bool { return pause(ctx, 100*time.Millisecond) == nil }
func (l scriptedLease) Stream(request *wire.ModelRequest) TokenSource {
	s := &scriptedStream{script: script(request), request: request}
	if size := promptTokens(request); size > contextSize && (l.model == "small" || l.model == "strict") {
		s.refused = &wire.Overflow{Fault: wire.NewFault(wire.CodeInternal, "the prompt is too long"), PromptTokens: size, ContextSize: contextSize}
	}
	return s
}

// promptTokens counts a token for each byte of a prompt and ten for each message.
func promptTokens(request *wire.ModelRequest) (tokens int) {
	for _, m := range request.Messages {
		tokens += 10 + len(m.Content)
	}
	return tokens
}

// script is what the model says now: the turn's input, less what memory found, holds a part for each of
// its steps, between bars.
func script(request *wire.ModelRequest) string {
	step := 0
	for _, m := range slices.Backward(request.Messages) {
		if m.Role == wire.RoleAssistant {
			step++
		}
		if m.Role != wire.RoleUser || strings.HasPrefix(m.Content, "Not every tool call") {
			continue
		}
		_, input, remembered := strings.Cut(m.Content, "</memory>\n\n")
		if !remembered {
			input = m.Content
		}
		parts := strings.Split(input, " | ")
		return parts[min(step, len(parts)-1)]
	}
	return request.Messages[0].Content // of a test that asks the model itself
}

const closeTime = 10 * time.Millisecond

// scriptedStream is a stream of one batch a second, a word of the script each: tokens joined by "+",
// reasoning in parentheses. CALL:ID:FUNCTION:ARGUMENTS is a tool call in two pieces, SHOW the messages that
// the model was sent. PROGRESS is prompt progress, CALL a piece of a tool call, FAIL a fault, HANG waits to be
// cancelled, PANIC panics. What is cancelled takes closeTime to end.
type scriptedStream struct {
	script   string
	request  *wire.ModelRequest
	refused  error // ends it before anything came
	calls    int
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
	if s.refused != nil {
		return s.refused
	}
	for word := range strings.FieldsSeq(s.script) {
		if err := pause(ctx, time.Second); err != nil {
			time.Sleep(closeTime)
			return err
		}
		if err := s.play(ctx, word); err != nil {
			return err
		}
	}
	finish := "stop"
	if s.calls > 0 {
		finish = "tool_calls"
	}
	return s.next.Push(ctx, &wire.Tokens{Finish: finish, Usage: &wire.Usage{PromptTokens: 1, CompletionTokens: s.tokens}})
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
	case "SHOW":
		word = string(wire.AppendText(nil, shown(s.request), false))
	}
	if call, ok := strings.CutPrefix(word, "CALL:"); ok {
		return s.call(ctx, call)
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

// call streams a tool call, the second half of its arguments in a piece of its own.
func (s *scriptedStream) call(ctx context.Context, call string) error {
	id, rest, _ := strings.Cut(call, ":")
	function, arguments, _ := strings.Cut(rest, ":")
	half := len(arguments) / 2
	pieces := []wire.CallDelta{{Index: s.calls, ID: id, Function: function, Arguments: arguments[:half]}, {Index: s.calls, Arguments: arguments[half:]}}
	s.calls++
	s.tokens++
	return s.next.Push(ctx, &wire.Tokens{Calls: pieces})
}

// shown is a prompt for people: its messages, and of the calls in them the functions.
func shown(request *wire.ModelRequest) string {
	var messages []string
	for _, m := range request.Messages {
		text := m.Role + ": " + m.Content
		for _, call := range m.Calls {
			text += "[" + call.Function + " " + call.Arguments + "]"
		}
		messages = append(messages, text)
	}
	return strings.Join(messages, " / ")
}
