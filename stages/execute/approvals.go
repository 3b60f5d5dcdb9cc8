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
	pending  map[question]asked
	approved map[approval]struct{}
}

// question is a call that a host was asked about.
type question struct {
	chat wire.ID
	call string
}

// asked is a question that waits for its answer.
type asked struct {
	about    approval
	decision chan wire.Decision // takes the one decision without waiting
}

// approval is a tool that was approved of for a session.
type approval struct{ user, session, tool string }

// approve hands a host's answer to the call that waits for it. One for the session answers for all calls
// of the tool that wait in it.
func (e *Execute) approve(p *wire.ApproveParams) wire.Reply {
	a := &e.approvals
	a.mu.Lock()
	defer a.mu.Unlock()
	q := question{p.Target, p.CallID}
	answered, waits := a.pending[q]
	if !waits {
		return &wire.ApproveDone{}
	}
	a.answerLocked(q, answered, p.Decision)
	if p.Decision == wire.DecisionSession {
		a.rememberLocked(answered.about)
		for other, waiting := range a.pending {
			if waiting.about == answered.about {
				a.answerLocked(other, waiting, wire.DecisionSession)
			}
		}
	}
	return &wire.ApproveDone{Accepted: true}
}

// maxApproved bounds what is remembered; who falls out of it is asked again.
const maxApproved = 4096

func (a *approvals) rememberLocked(about approval) {
	for old := range a.approved {
		if len(a.approved) < maxApproved {
			break
		}
		delete(a.approved, old)
	}
	a.approved[about] = struct{}{}
}

func (a *approvals) answerLocked(q question, waiting asked, d wire.Decision) {
	delete(a.pending, q)
	waiting.decision <- d
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
	a.approvals.pending[q] = asked{a.approval(call.Tool), decision}
	a.approvals.mu.Unlock()
	call.Expires = a.approvals.timeout
	a.chat.out.Event(wire.Event{Kind: wire.EventToolApproval, Step: step, Detail: &call})
	answer := make(chan agent.Answer, 1)
	go func() { answer <- a.await(ctx, q, decision) }()
	return answer
}

// await waits for the decision about one call.
func (a asker) await(ctx context.Context, q question, decision <-chan wire.Decision) agent.Answer {
	timer := time.NewTimer(a.approvals.timeout)
	defer timer.Stop()
	expired := false
	select {
	case d := <-decision:
		return answerOf(d)
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
		return answerOf(d)
	default:
		return agent.Answer{Expired: expired}
	}
}

func answerOf(d wire.Decision) agent.Answer {
	return agent.Answer{Approved: d == wire.DecisionOnce || d == wire.DecisionSession}
}
