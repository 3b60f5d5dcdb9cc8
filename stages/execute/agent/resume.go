package agent

import (
	"context"

	"sluice/internal/wire"
)

// takeUp makes the session's last turn this one, if it was interrupted.
func (t *turn) takeUp(ctx context.Context) bool {
	last, err := t.session.Last(ctx, t.ResultBytes)
	if err != nil {
		t.warn("the session can't be read, so nothing was resumed: " + err.Error())
		return false
	}
	if last == nil || last.Status == wire.TurnDone || last.Status == wire.TurnAborted {
		t.answered = last != nil && last.Status == wire.TurnDone && t.Input == ""
		if t.answered {
			t.record = *last
			t.warn("there was nothing to resume: the last turn had ended, and its answer is repeated")
			return true
		}
		t.warn("there was nothing to resume; the input was answered as a new turn")
		return false
	}
	if t.Input != "" {
		t.warn("the input was ignored because an interrupted turn was resumed; send it again as a chat without resume")
	}
	t.adopt(last.Agent)
	t.record, t.stored, t.stepStored = *last, true, true
	t.record.Response = ""
	t.result.Steps = len(t.record.Steps)
	for i := range t.record.Steps {
		if text := t.record.Steps[i].Text; text != "" {
			t.texts = append(t.texts, wire.AppendText(nil, text, t.ASCII))
		}
	}
	t.save(ctx, func(ctx context.Context) error { return t.session.Resume(ctx, last.ID) })
	return true
}

// adopt lets a resumed turn go on under the agent that began it, unless the host named another.
func (t *turn) adopt(name string) {
	if name == "" || name == t.Agent.Name {
		return
	}
	if t.ByName == nil {
		t.warn("the resumed turn was begun by agent " + name + "; as asked, it goes on under " + t.Agent.Name)
		return
	}
	if agent, found := t.ByName(name); found {
		t.Agent = agent
		return
	}
	t.warn("the resumed turn was begun by agent " + name + ", which is not configured any more; it goes on under " + t.Agent.Name)
}

// repeat answers with what the turn was answered with.
func (t *turn) repeat() {
	t.result.Response = wire.AppendText(nil, t.record.Response, t.ASCII)
	t.result.FinishReason, t.result.Steps = "stop", len(t.record.Steps)+1
	t.Event(wire.Event{Kind: wire.EventFinal, Step: len(t.record.Steps), Text: t.result.Response})
}
