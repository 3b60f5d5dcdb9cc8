package pipeline

import (
	"context"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// chat is the output of one chat: encoder and lane.
type chat struct {
	pipeline  *Pipeline
	id        wire.ID
	lane      Lane
	encode    func(*wire.Events) *wire.Frames
	reasoning bool
	one       wire.Events // reused by Event
}

// Chat implements execute.Output.
func (p *Pipeline) Chat(id wire.ID, extensions execute.Extensions) execute.Chat {
	return &chat{
		pipeline:  p,
		id:        id,
		lane:      p.options.Sink.Lane(id),
		encode:    p.options.Protocol.Events(id, extensions.Offsets),
		reasoning: extensions.Reasoning,
	}
}

// Reply implements execute.Output.
func (p *Pipeline) Reply(id wire.ID, reply wire.Reply) {
	var buf [256]byte
	line := p.options.Protocol.Reply(buf[:0], id, reply, wire.Delivery{})
	p.put(p.replies.Put(wire.Frame{Class: wire.Guaranteed, Head: line}), id)
}

// Gate implements execute.Output.
func (p *Pipeline) Gate(ctx context.Context) error { return p.options.Sink.Gate(ctx) }

// put logs a frame that the sink refused, which only a frame behind a final one is.
func (p *Pipeline) put(err error, id wire.ID) {
	if err != nil {
		p.options.Logger.Error("a frame was refused", "request", string(id), "error", err.Error())
	}
}

// Event implements execute.Chat.
func (c *chat) Event(event wire.Event) {
	c.one.Items = append(c.one.Items[:0], event)
	c.pipeline.put(c.lane.Push(context.Background(), c.encode(&c.one)), c.id)
}

// replyCost is about what a final frame needs besides its text, in bytes.
const replyCost = 1024

// Finish implements execute.Chat. The frame is encoded when the writer takes it.
func (c *chat) Finish(done *wire.ChatDone) {
	final := &finalFrame{chat: c, done: done}
	c.pipeline.finals.add()
	c.pipeline.put(c.lane.Finish(wire.Frame{Deferred: final, Cost: len(done.Response) + len(c.id) + replyCost}), c.id)
}

// finalFrame encodes a chat's final frame.
type finalFrame struct {
	chat *chat
	done *wire.ChatDone
}

// AppendTo implements wire.Deferred.
func (f *finalFrame) AppendTo(dst []byte, d wire.Delivery) []byte {
	f.chat.pipeline.finals.take()
	return f.chat.pipeline.options.Protocol.Reply(dst, f.chat.id, f.done, d)
}

// tap sees the tokens on their way into transform.
type tap struct {
	apply  func(*wire.Tokens) *wire.Events
	tokens func(int64)
	first  time.Time
}

func (t *tap) observe(batch *wire.Tokens) *wire.Events {
	if t.first.IsZero() && len(batch.Items) > 0 {
		t.first = time.Now()
	}
	t.tokens(int64(len(batch.Items)))
	return t.apply(batch)
}

// stepSink is a lane for the time of one model step: the step's end is not the lane's.
type stepSink struct{ Lane }

// Done does nothing: the chat goes on.
func (stepSink) Done(error) {}

// AwaitCompletion returns at once, for the same reason.
func (stepSink) AwaitCompletion() {}
