package pipeline

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sluice/internal/wire"
)

// repeatInterval is how long nothing of a chat is sent before what it waits for is told again: the
// host is promised one a second, and the way to it takes a while.
const repeatInterval = 900 * time.Millisecond

// fractionInterval is how long a fraction that moves on is kept back after the last one.
const fractionInterval = 100 * time.Millisecond

// progress is the lane of a chat whose host wants to know what the chat waits for: everything the chat
// sends goes through it, so that it knows how long nothing was sent. A timer repeats what is waited
// for; there is no goroutine but while it fires. Every method may be called from any goroutine, those
// of the Lane by one at a time. Those named step may be called on nil, which does nothing.
type progress struct {
	Lane
	encode func(*wire.Events) *wire.Frames // its own, not the chat's
	failed func(error)                     // told when the lane refuses a frame

	mu     sync.Mutex
	what   wire.Progress // what is waited for; without a stage nothing is
	ofStep bool          // what was set by the model step: the next frame ends it
	ended  bool          // set by Finish: nothing is told any more
	sent   time.Time     // when the newest frame was sent, of progress or anything else
	told   time.Time     // when what was told last
	timer  *time.Timer   // calls repeat while something is waited for; nil before
	one    wire.Events   // reused
}

// Set says what is waited for from now on, nil that nothing is. It is told at once unless it is what
// was told before; where only a fraction moves on, that is kept back for a while.
func (p *progress) Set(what *wire.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == nil {
		p.clearLocked()
		return
	}
	p.setLocked(*what, false)
}

func (p *progress) setLocked(what wire.Progress, ofStep bool) {
	if p.ended {
		return
	}
	before := p.what
	p.what, p.ofStep = what, ofStep
	moved := what.Stage == before.Stage && what.Fraction >= 0 && before.Fraction >= 0
	if what == before || moved && time.Since(p.told) < fractionInterval {
		return
	}
	p.tellLocked()
}

// waitLocked says what the model step waits for, to be told only when nothing else is sent for a while.
func (p *progress) waitLocked(stage wire.Phase, detail string) {
	what := wire.Progress{Stage: stage, Fraction: -1, Detail: detail}
	if p.ended || p.what == what {
		return
	}
	p.what, p.ofStep = what, true
	p.armLocked(repeatInterval - time.Since(p.sent))
}

func (p *progress) clearLocked() {
	p.what, p.ofStep = wire.Progress{}, false
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *progress) tellLocked() {
	p.sent = time.Now()
	p.told = p.sent
	what := p.what
	p.one.Items = append(p.one.Items[:0], wire.Event{Kind: wire.EventProgress, Detail: &what})
	if err := p.Lane.Push(context.Background(), p.encode(&p.one)); err != nil {
		p.failed(err)
	}
	p.armLocked(repeatInterval)
}

func (p *progress) armLocked(after time.Duration) {
	after = max(after, 0)
	if p.timer == nil {
		p.timer = time.AfterFunc(after, p.repeat)
		return
	}
	p.timer.Reset(after)
}

// repeat is the timer's: it tells what is waited for if nothing else was sent meanwhile.
func (p *progress) repeat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what.Stage == "" {
		return
	}
	if quiet := time.Since(p.sent); quiet < repeatInterval {
		p.armLocked(repeatInterval - quiet)
		return
	}
	p.tellLocked()
}

// Push hands frames of the chat on.
func (p *progress) Push(ctx context.Context, element any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = time.Now()
	if p.ofStep {
		p.clearLocked()
	}
	return p.Lane.Push(ctx, element)
}

// Finish ends the telling and hands the final frame on.
func (p *progress) Finish(frame wire.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearLocked()
	p.ended = true
	return p.Lane.Finish(frame)
}

// stepBegins says that a model step was asked for; nothing has come yet.
func (p *progress) stepBegins() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waitLocked(wire.PhasePrompt, "reading the prompt")
}

// stepEnds says that the step ended, in whatever way.
func (p *progress) stepEnds() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ofStep {
		p.clearLocked()
	}
}

// stepBrought is told of each batch of the step that becomes no event: how far the prompt is read, the
// pieces of a tool call, or thoughts that the host doesn't want to see.
func (p *progress) stepBrought(batch *wire.Tokens) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(batch.Calls) > 0:
		p.waitLocked(wire.PhaseTool, "the model is writing a tool call")
	case len(batch.Items) > 0:
		p.waitLocked(wire.PhasePrompt, "the model is thinking")
	case batch.Progress != nil:
		p.setLocked(promptRead(batch.Progress), true)
	}
}

// promptRead tells how far the server has read the prompt; what it had cached counts as read.
func promptRead(read *wire.PromptProgress) wire.Progress {
	p := wire.Progress{Stage: wire.PhasePrompt, Fraction: -1, Detail: fmt.Sprintf("%d of %d tokens", read.Processed, read.Total)}
	if read.Total > 0 {
		p.Fraction = float64(read.Processed) / float64(read.Total)
	}
	return p
}
