package execute

import (
	"context"
	"sync"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// approvals are the questions that hosts have not answered yet, and the tools that they approved of for
// a session, as long as the engine lives.
type approvals struct {
	timeout time.Duration
	// closed is closed by DenyApprovals, when no answer can come any more.
	closed chan struct{}

	mu       sync.Mutex
	pending  map[question]chan wire.Decision // each takes one decision without waiting
	approved map[approval]struct{}
}

// question is a call that a host was asked about.
type question struct {
	chat wire.ID
	call string
}

// approval is a tool that was approved of for a session.
type approval struct{ user, session, tool string }

// approve hands a host's answer to the call that waits for it.
func (e *Execute) approve(p *wire.ApproveParams) wire.Reply {
	a := &e.approvals
	a.mu.Lock()
	defer a.mu.Unlock()
	q := question{p.Target, p.CallID}
	answer, waits := a.pending[q]
	if !waits {
		return &wire.ApproveDone{}
	}
	delete(a.pending, q)
	answer <- p.Decision
	return &wire.ApproveDone{Accepted: true}
}

// asker implements agent.Approvals for one chat.
type asker struct {
	approvals *approvals
	chat      *chat
	possible  bool // the host named the extension
}

// Needed implements agent.Approvals.
func (a asker) Needed(tool string) bool {
	if a.chat.params.ApproveExecution {
		return false
	}
	a.approvals.mu.Lock()
	defer a.approvals.mu.Unlock()
	_, approved := a.approvals.approved[a.approval(tool)]
	return !approved
}

func (a asker) approval(tool string) approval {
	return approval{a.chat.user, a.chat.session, tool}
}

// Possible implements agent.Approvals. At the end of input no answer can come.
func (a asker) Possible() bool {
	select {
	case <-a.approvals.closed:
		return false
	default:
		return a.possible
	}
}

// Ask implements agent.Approvals.
func (a asker) Ask(ctx context.Context, step int, call wire.ToolApproval) <-chan agent.Answer {
	q, decision := question{a.chat.id, call.CallID}, make(chan wire.Decision, 1)
	a.approvals.mu.Lock()
	a.approvals.pending[q] = decision
	a.approvals.mu.Unlock()
	call.Expires = a.approvals.timeout
	a.chat.out.Event(wire.Event{Kind: wire.EventToolApproval, Step: step, Detail: &call})
	answer := make(chan agent.Answer, 1)
	go func() { answer <- a.await(ctx, q, call.Tool, decision) }()
	return answer
}

// await waits for the decision about one call.
func (a asker) await(ctx context.Context, q question, tool string, decision <-chan wire.Decision) agent.Answer {
	timer := time.NewTimer(a.approvals.timeout)
	defer timer.Stop()
	expired := false
	select {
	case d := <-decision:
		return a.decide(tool, d)
	case <-timer.C:
		expired = true
	case <-ctx.Done():
	case <-a.approvals.closed:
	}
	a.approvals.mu.Lock()
	delete(a.approvals.pending, q)
	a.approvals.mu.Unlock()
	select {
	case d := <-decision: // the host was told that it is accepted
		return a.decide(tool, d)
	default:
		return agent.Answer{Expired: expired}
	}
}

func (a asker) decide(tool string, d wire.Decision) agent.Answer {
	if d == wire.DecisionSession {
		a.approvals.mu.Lock()
		a.approvals.approved[a.approval(tool)] = struct{}{}
		a.approvals.mu.Unlock()
	}
	return agent.Answer{Approved: d == wire.DecisionOnce || d == wire.DecisionSession}
}
