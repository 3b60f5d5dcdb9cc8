// Package transform turns the token batches of one model step into event batches: it joins
// characters that a server split over two chunks, escapes what may not stand raw in a line, keeps the
// step's whole text, and puts its tool calls together.
//
// Concurrency law: a [Step] is a plain value owned by the goroutine that reads the model's stream;
// nothing here starts goroutines, locks, reads a clock or does I/O.
package transform

import "sluice/internal/wire"

// Options say what the host wants of a step; the zero value is a host without extensions.
type Options struct {
	// Step is the number that the events carry.
	Step int
	// ASCII escapes everything outside ASCII.
	ASCII bool
	// Reasoning emits reasoning as events; without it reasoning is left out.
	Reasoning bool
	// Forget keeps no text: Response is then empty. It is for streams of which only the events matter.
	Forget bool
}

// Step is the state of one model step.
type Step struct {
	options   Options
	content   text
	reasoning text
	events    wire.Events
	objects   []byte // of the events of one batch that are no text; reused
	calls     calls
	finish    string
	usage     *wire.Usage
}

// text is one of the two texts of a step.
type text struct {
	// escaped is the text so far; events alias it, so it only ever grows, but between the batches of a
	// stream that forgets.
	escaped []byte
	// bytes is the length of the text as plain UTF-8.
	bytes int64
	// carry is an unfinished character, to be put in front of the next piece.
	carry []byte
	// joined is where carry and piece meet; reused.
	joined []byte
}

// New returns the state of a step that has not begun.
func New(options Options) *Step { return &Step{options: options} }

// Apply turns a batch of tokens into a batch of events. The events and their texts are valid until
// the next call.
func (s *Step) Apply(tokens *wire.Tokens) *wire.Events {
	s.events.Reset()
	s.objects = emptied(s.objects)
	if s.options.Forget {
		s.content.escaped = emptied(s.content.escaped)
	}
	for i := range tokens.Items {
		s.take(&tokens.Items[i])
	}
	for i := range tokens.Calls {
		s.calls.add(&tokens.Calls[i])
	}
	if tokens.Finish != "" {
		s.finish = tokens.Finish
	}
	if tokens.Usage != nil {
		s.usage = tokens.Usage
	}
	return &s.events
}

// keptBytes is the most memory that is kept for the next batch, in bytes.
const keptBytes = 64 << 10

func emptied(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
}

func (s *Step) take(token *wire.Token) {
	switch {
	case token.Kind == wire.TokenContent:
		s.add(&s.content, wire.EventChunk, token)
	case token.Kind == wire.TokenFrame:
		from := len(s.objects)
		s.objects = wire.AppendObject(s.objects, string(token.Raw), s.options.ASCII)
		s.events.Items = append(s.events.Items, wire.Event{Kind: wire.EventFrame, Step: s.options.Step, Text: s.objects[from:]})
	case s.options.Reasoning:
		s.add(&s.reasoning, wire.EventReasoning, token)
	}
}

// Flush ends the step: a character that never came to its end becomes U+FFFD.
func (s *Step) Flush() *wire.Events {
	s.events.Reset()
	s.end(&s.reasoning, wire.EventReasoning)
	s.end(&s.content, wire.EventChunk)
	return &s.events
}

func (s *Step) add(t *text, kind wire.EventKind, token *wire.Token) {
	from, offset := len(t.escaped), t.bytes
	if token.Plain && len(t.carry) == 0 {
		t.escaped = append(t.escaped, token.Raw...)
		t.bytes += int64(len(token.Raw))
	} else {
		t.append(token.Raw, s.options.ASCII, false)
	}
	s.emit(t, kind, from, offset)
}

func (s *Step) end(t *text, kind wire.EventKind) {
	if len(t.carry) == 0 {
		return
	}
	from, offset := len(t.escaped), t.bytes
	t.append(nil, s.options.ASCII, true)
	s.emit(t, kind, from, offset)
}

func (s *Step) emit(t *text, kind wire.EventKind, from int, offset int64) {
	if len(t.escaped) > from {
		s.events.Items = append(s.events.Items, wire.Event{Kind: kind, Step: s.options.Step, Text: t.escaped[from:], Offset: offset})
	}
}

func (t *text) append(raw []byte, ascii, final bool) {
	if len(t.carry) > 0 {
		t.joined = append(append(t.joined[:0], t.carry...), raw...)
		raw = t.joined
	}
	out, n, rest := wire.Reescape(t.escaped, raw, ascii, final)
	t.escaped = out
	t.bytes += int64(n)
	t.carry = append(t.carry[:0], rest...)
}

// Response returns the step's whole text, escaped for the inside of a JSON string. It is final once
// Flush was called.
func (s *Step) Response() []byte { return s.content.escaped }

// Calls returns the tool calls as far as they came, at most 64 with at most 16 MiB of arguments
// together; Cut tells whether there was more. Every call has an ID that no other call of the step has,
// and all texts are valid UTF-8. The arguments are as the model wrote them, JSON or not.
func (s *Step) Calls() []wire.ToolCall { return s.calls.whole(s.options.Step) }

// Cut returns what of the tool calls was left out.
func (s *Step) Cut() Cut { return s.calls.cut }

// Finish returns the server's finish reason, empty when none came.
func (s *Step) Finish() string { return s.finish }

// Usage returns the server's count, nil when none came.
func (s *Step) Usage() *wire.Usage { return s.usage }
