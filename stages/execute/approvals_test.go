package execute

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// asking runs a test in a world whose host can be asked.
func asking(t *testing.T, options Options, test func(*world, *fakeTools)) {
	t.Helper()
	tools := &fakeTools{}
	options.Agents, options.Tools = toolbox, tools
	inWorld(t, options, func(w *world) {
		w.ask(wire.MethodInitialize, &wire.InitializeParams{Extensions: []string{"approval"}})
		w.out.taken()
		test(w, tools)
	})
}

// approving answers a question and checks whether the answer is accepted.
func (w *world) approving(chat wire.ID, call string, decision wire.Decision, accepted bool) {
	w.t.Helper()
	reply := w.ask(wire.MethodApprove, &wire.ApproveParams{Target: chat, CallID: call, Decision: decision})
	if done, ok := reply.(*wire.ApproveDone); !ok || done.Accepted != accepted {
		w.t.Errorf("%s of %s %s: got %+v; want %v", decision, chat, call, reply, accepted)
	}
	synctest.Wait()
}

// ended returns how the tool calls of the newest chat of an id ended, and how many were asked for.
func (o *fakeOutput) tools(id wire.ID) (ends []wire.ToolStatus, asked int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range slices.Backward(o.chats) {
		if c.id == id {
			return c.ends, len(c.calls)
		}
	}
	return nil, 0
}

// settled checks how the tool calls of a chat ended and how many of them the host was asked about.
func (w *world) settled(id wire.ID, asked int, ends ...wire.ToolStatus) {
	w.t.Helper()
	got, questions := w.out.tools(id)
	if !slices.Equal(got, ends) || questions != asked {
		w.t.Errorf("%s: the calls ended %v, %d were asked for; want %v, %d", id, got, questions, ends, asked)
	}
}

func TestApprove(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "a")
		w.saying("0s a run_start", "0s a llm_start", "0s a llm_done", "0s a tool_start", "0s a tool_approval")
		if want := (wire.ToolApproval{CallID: "call0", Tool: "s/ask", Args: "{}", Expires: 2 * time.Minute}); !reflect.DeepEqual(w.out.chats[0].calls, []wire.ToolApproval{want}) {
			t.Errorf("asked %+v", w.out.chats[0].calls)
		}
		w.after(time.Minute)
		w.approving("a", "call0", wire.DecisionOnce, true)
		w.saying("1m0s ask ApproveDone", "1m0s a tool_done", "1m0s a llm_start", "1m0s a llm_done", "1m0s a final", "1m0s a result")
		w.settled("a", 1, wire.ToolOK)
		w.approving("a", "call0", wire.DecisionOnce, false) // the chat is over
		if timings := w.out.done("a").Timings(); timings.Tool != time.Minute {
			t.Errorf("got %+v", timings)
		}
	})
}

// TestApproveTwice: the first answer counts.
func TestApproveTwice(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask s__10s", "a")
		w.approving("a", "call0", wire.DecisionDeny, true)
		w.approving("a", "call0", wire.DecisionOnce, false)
		w.after(10 * time.Second)
		w.settled("a", 1, wire.ToolDenied, wire.ToolOK)
		if called := tools.calls(); !slices.Equal(called, []string{"s/10s"}) {
			t.Errorf("called %q", called)
		}
	})
}

// TestApproveTwiceAtOnce: of two answers in one read one is accepted, and it is the one that counts.
func TestApproveTwiceAtOnce(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "a")
		once := &wire.ApproveParams{Target: "a", CallID: "call0", Decision: wire.DecisionOnce}
		deny := &wire.ApproveParams{Target: "a", CallID: "call0", Decision: wire.DecisionDeny}
		_ = w.push(request("1", wire.MethodApprove, once, 1), request("2", wire.MethodApprove, deny, 1))
		synctest.Wait()
		first, second := w.out.last("1").(*wire.ApproveDone), w.out.last("2").(*wire.ApproveDone)
		if !first.Accepted || second.Accepted {
			t.Errorf("%v, %v", first, second)
		}
		w.settled("a", 1, wire.ToolOK)
	})
}

// TestApproveOfAWrongID is not accepted; ids are equal when their texts are.
func TestApproveOfAWrongID(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "1", `"2"`)
		for _, wrong := range []wire.ID{"1.0", `"1"`, "2", ""} {
			w.approving(wrong, "call0", wire.DecisionOnce, false)
		}
		w.approving("1", "call1", wire.DecisionOnce, false)
		w.approving(`"2"`, "call0", wire.DecisionOnce, true)
		w.approving("1", "call0", wire.DecisionDeny, true)
		w.settled("1", 1, wire.ToolDenied)
		w.settled(`"2"`, 1, wire.ToolOK)
	})
}

// TestApproveAfterExpiry comes too late.
func TestApproveAfterExpiry(t *testing.T) {
	asking(t, Options{ApprovalTimeout: 30 * time.Second}, func(w *world, tools *fakeTools) {
		w.chat("call s__ask", "a")
		if w.out.chats[0].calls[0].Expires != 30*time.Second {
			t.Errorf("asked %+v", w.out.chats[0].calls)
		}
		w.after(30*time.Second - 1)
		w.settled("a", 1)
		w.after(1)
		w.settled("a", 1, wire.ToolDenied)
		w.approving("a", "call0", wire.DecisionOnce, false)
		if warnings := w.out.done("a").Warnings; len(warnings) != 1 || len(tools.calls()) > 0 {
			t.Errorf("warnings %q", warnings)
		}
	})
}

// TestApproveForASession holds for that tool in that session of that user, as long as the engine lives.
func TestApproveForASession(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		again := func(id wire.ID, user, session, functions string) {
			w.chatWith(id, &wire.ChatParams{UserID: user, SessionID: session, Input: "call " + functions})
		}
		again("a", "", "s", "s__ask")
		w.approving("a", "call0", wire.DecisionSession, true)
		w.settled("a", 1, wire.ToolOK)
		again("b", "", "s", "s__ask s__ask")
		w.settled("b", 0, wire.ToolOK, wire.ToolOK)
		again("same", defaultUser, "s", "s__ask") // whom a chat without a user belongs to
		w.settled("same", 0, wire.ToolOK)
		for id, whose := range map[wire.ID][3]string{"tool": {"", "s", "s__ask2"}, "session": {"", "t", "s__ask"}, "user": {"u", "s", "s__ask"}} {
			again(id, whose[0], whose[1], whose[2])
			w.settled(id, 1)
		}
	})
}

// TestApproveOnceHoldsForOneCall.
func TestApproveOnceHoldsForOneCall(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chatWith("a", &wire.ChatParams{SessionID: "s", Input: "call s__ask s__ask"})
		w.approving("a", "call1", wire.DecisionOnce, true)
		w.settled("a", 2)
		w.approving("a", "call0", wire.DecisionOnce, true)
		w.settled("a", 2, wire.ToolOK, wire.ToolOK)
		w.chatWith("b", &wire.ChatParams{SessionID: "s", Input: "call s__ask"})
		w.settled("b", 1)
	})
}

// TestHostThatCantBeAsked has its tools denied at once, unless it approved of everything before.
func TestHostThatCantBeAsked(t *testing.T) {
	tools := &fakeTools{}
	inWorld(t, withTools(tools), func(w *world) {
		w.chat("call s__ask s__echo", "a")
		w.settled("a", 0, wire.ToolDenied, wire.ToolOK)
		w.chatWith("b", &wire.ChatParams{Input: "call s__ask", ApproveExecution: true})
		w.settled("b", 0, wire.ToolOK)
		w.chat("call s__ask", "c") // of its own session
		w.settled("c", 0, wire.ToolDenied)
		w.saying("0s a run_start", "0s a llm_start", "0s a llm_done", "0s a tool_start", "0s a tool_start", "0s a tool_done", "0s a tool_done", "0s a llm_start", "0s a llm_done", "0s a final", "0s a result",
			"0s b run_start", "0s b llm_start", "0s b llm_done", "0s b tool_start", "0s b tool_done", "0s b llm_start", "0s b llm_done", "0s b final", "0s b result",
			"0s c run_start", "0s c llm_start", "0s c llm_done", "0s c tool_start", "0s c tool_done", "0s c llm_start", "0s c llm_done", "0s c final", "0s c result")
	})
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.chatWith("a", &wire.ChatParams{Input: "call s__ask", ApproveExecution: true})
		w.settled("a", 0, wire.ToolOK)
	})
}

// TestApproveIsCounted like every method.
func TestApproveIsCounted(t *testing.T) {
	asking(t, Options{}, func(w *world, tools *fakeTools) {
		w.approving("a", "call0", wire.DecisionOnce, false)
		want := wire.RequestStats{Method: "approve", Outcome: "ok", Count: 1}
		if got := w.Stats().Requests; !slices.Contains(got, want) {
			t.Errorf("got %+v", got)
		}
	})
}
