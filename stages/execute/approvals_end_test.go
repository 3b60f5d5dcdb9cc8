package execute

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestEndOfInputDenies what is pending, and what comes later isn't asked.
func TestEndOfInputDenies(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask s__10s", "a")
		w.chatWith("b", &wire.ChatParams{Agent: "assistant", Input: "call s__10s"})
		w.after(time.Second)
		w.out.taken()
		w.DenyApprovals()
		w.after(time.Second)
		w.saying("1s a tool_done")
		w.after(10 * time.Second)
		w.settled("a", 1, wire.ToolDenied, wire.ToolOK)
		w.settled("b", 0, wire.ToolOK)
		w.chat("call s__ask", "c")
		w.settled("c", 0, wire.ToolDenied)
		w.approving("a", "call0", wire.DecisionOnce, false)
		if done := w.out.done("c"); done == nil || done.Fault != nil {
			t.Errorf("it ended with %+v", done)
		}
	})
}

// TestCancelSettlesApprovals: the chat ends within its second, and an answer comes too late.
func TestCancelSettlesApprovals(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "a")
		w.after(time.Second)
		w.out.taken()
		w.cancelled(w.cancelling("a"), "a")
		w.saying("1s ask CancelDone", "1s a tool_done", "1s a cancelled")
		w.settled("a", 1, wire.ToolCancelled)
		w.approving("a", "call0", wire.DecisionOnce, false)
		if len(tools.calls()) > 0 || len(w.approvals.pending) > 0 {
			t.Errorf("%d questions are left", len(w.approvals.pending))
		}
	})
}

// TestDoneLeavesApprovalsToStop: a shutdown ends the input too, and what is pending is then cancelled, not
// denied: it would be denied for ever in a turn that is resumed.
func TestDoneLeavesApprovalsToStop(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "a")
		w.Done(ErrShutdown)
		w.after(time.Second)
		w.settled("a", 1)
		w.Stop(ErrShutdown)
		w.Wait()
		w.settled("a", 1, wire.ToolCancelled)
	})
}

// TestStopSettlesApprovals, with nothing left over.
func TestStopSettlesApprovals(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask s__ask2", "a", "b")
		w.Stop(errors.New("a signal"))
		w.Wait()
		w.settled("a", 2, wire.ToolCancelled, wire.ToolCancelled)
		w.settled("b", 2, wire.ToolCancelled, wire.ToolCancelled)
		if len(w.approvals.pending) > 0 {
			t.Errorf("%d questions are left", len(w.approvals.pending))
		}
	})
}

// TestAcceptedAnswerCounts, also when the wait for it ends in the same moment: the host was told so.
func TestAcceptedAnswerCounts(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		ended, end := context.WithCancel(w.t.Context())
		end()
		for range 100 {
			decision := make(chan wire.Decision, 1)
			decision <- wire.DecisionOnce
			a := asker{approvals: &w.approvals, chat: &chat{params: &wire.ChatParams{}}, possible: true}
			if answer := a.await(ended, question{"a", "call0"}, decision); !answer.Approved {
				t.Fatalf("got %+v", answer)
			}
		}
	})
}

// TestSessionDecisionAnswersForAll calls of that tool which wait in the session, in one step too.
func TestSessionDecisionAnswersForAll(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask s__ask s__ask2", "a")
		var first, second string
		for q, waiting := range w.approvals.pending {
			if waiting.about.tool == "s/ask" {
				first, second = q.call, first
			}
		}
		if first == "" || second == "" || len(w.approvals.pending) != 3 {
			t.Fatalf("%d questions wait", len(w.approvals.pending))
		}
		if reply := w.ask(wire.MethodApprove, &wire.ApproveParams{Target: "a", CallID: first, Decision: wire.DecisionSession}); !reply.(*wire.ApproveDone).Accepted {
			t.Error("the answer isn't accepted")
		}
		if reply := w.ask(wire.MethodApprove, &wire.ApproveParams{Target: "a", CallID: second, Decision: wire.DecisionDeny}); reply.(*wire.ApproveDone).Accepted {
			t.Error("the second call still waits")
		}
		if len(w.approvals.pending) != 1 {
			t.Errorf("%d questions are left", len(w.approvals.pending))
		}
	})
}
