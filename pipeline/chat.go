package pipeline

import (
	"context"
	"sync"

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
	progress  *progress   // the lane of a host that wants it; nil for others
	one       wire.Events // reused by Event
}

// Chat implements execute.Output.
func (p *Pipeline) Chat(id wire.ID, extensions execute.Extensions) execute.Chat {
	c := &chat{
		pipeline:  p,
		id:        id,
		lane:      p.options.Sink.Lane(id),
		encode:    p.options.Protocol.Events(id, extensions.Offsets),
		reasoning: extensions.Reasoning,
	}
	if extensions.Progress {
		c.progress = &progress{Lane: c.lane, encode: p.options.Protocol.Events(id, false), failed: func(err error) { p.put(err, id) }}
		c.lane = c.progress
	}
	return c
}

// replies is the lane of requests that have no events. Several goroutines reply.
type replies struct {
	mu   sync.Mutex
	lane Lane
	line []byte // reused
}

// keptLine is the most memory that replies keep after a long one, in bytes.
const keptLine = 64 << 10

// Reply implements execute.Output.
func (p *Pipeline) Reply(id wire.ID, reply wire.Reply) {
	r := &p.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = p.options.Protocol.Reply(r.line[:0], id, reply, wire.Delivery{})
	p.put(r.lane.Put(wire.Frame{Class: wire.Guaranteed, Head: r.line}), id)
	if cap(r.line) > keptLine {
		r.line = nil
	}
}

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

// Accept implements execute.Chat. It goes the way of the events, so that none of them overtakes it.
func (c *chat) Accept(id wire.ID, reply wire.Reply) {
	line := c.pipeline.options.Protocol.Reply(nil, id, reply, wire.Delivery{})
	c.pipeline.put(c.lane.Put(wire.Frame{Class: wire.Guaranteed, Head: line}), c.id)
}

// Progress implements execute.Chat.
func (c *chat) Progress(what *wire.Progress) {
	if c.progress != nil {
		c.progress.Set(what)
	}
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
	timings := f.done.Timings() // of this moment, also for a frame that doesn't show them
	f.chat.pipeline.chatTime.add(timings)
	f.done.Timings = func() wire.Timings { return timings }
	return f.chat.pipeline.options.Protocol.Reply(dst, f.chat.id, f.done, d)
}
