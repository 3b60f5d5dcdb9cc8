//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

const bigCall = `call=t__big args={"count":16} `

// askingEngine starts an engine whose tools need approval, for a host that can be asked.
func askingEngine(t *testing.T, app string) (*host.Engine, *toolServer) {
	t.Helper()
	s, tools := newToolWorld(t, "requires_approval: true")
	s.app = app
	e := ready(t, s.start(host.Options{}))
	askForApprovals(e)
	return e, tools
}

// answer answers what a chat was asked and reports whether that was accepted.
func answer(e *host.Engine, id, decision string) bool {
	call := e.Event(id, "tool_approval").Get("call_id").Str
	reply := e.Call(numbered("answer-", len(e.Messages())), "approve", map[string]any{"request_id": id, "call_id": call, "decision": decision})
	return reply.Get("result.accepted").Bool()
}

func wasAsked(e *host.Engine, id string) bool { return strings.Contains(e.Names(id), "tool_approval") }

func wantStatus(t *testing.T, e *host.Engine, id, want string) {
	t.Helper()
	if done := e.Event(id, "tool_done"); done.Get("status").Str != want {
		t.Errorf("%s: it is done with %s", id, done.Raw)
	}
}

// An approval for a session holds for that tool and that session of that user, while the engine lives.
func TestApprovalForASession(t *testing.T) {
	t.Parallel()
	e, tools := askingEngine(t, "")
	steps := []struct {
		id, user, session, input, decision, status string
	}{
		{"first", "u", "s", noteCall, "session", "ok"},
		{"again", "u", "s", noteCall, "", "ok"},
		{"other tool", "u", "s", bigCall, "deny", "denied"},
		{"other session", "u", "t", noteCall, "deny", "denied"},
		{"other user", "v", "s", noteCall, "once", "ok"},
		{"other user again", "v", "s", noteCall, "deny", "denied"},
		{"still", "u", "s", noteCall, "", "ok"},
	}
	for _, step := range steps {
		say(e, step.id, step.user, step.session, step.input)
		if step.decision != "" && !answer(e, step.id, step.decision) {
			t.Errorf("%s: the answer was not accepted", step.id)
		}
		wantWarnings(t, wantWhole(t, e, step.id, fakellama.Text(step.input)))
		wantStatus(t, e, step.id, step.status)
		if wasAsked(e, step.id) != (step.decision != "") {
			t.Errorf("%s: the host was asked: %v", step.id, wasAsked(e, step.id))
		}
	}
	tools.wantCalls("note a", "note a", "note a", "note a")
	wantEnd(t, e, tools)
}

func TestApprovalThatExpires(t *testing.T) {
	t.Parallel()
	e, tools := askingEngine(t, ", approval_timeout: 200ms")
	e.Chat("c", noteCall)
	result := wantWhole(t, e, "c", fakellama.Text(noteCall))
	wantWarnings(t, result, "app.approval_timeout")
	wantStatus(t, e, "c", "denied")
	if expires := e.Event("c", "tool_approval").Get("expires_ms").Int(); expires != 200 {
		t.Errorf("it expires in %d ms", expires)
	}
	if answer(e, "c", "once") {
		t.Error("an answer was accepted after all")
	}
	tools.wantCalls()
	wantEnd(t, e, tools)
}

func TestCancelWhileAnApprovalIsPending(t *testing.T) {
	t.Parallel()
	e, tools := askingEngine(t, "")
	e.Chat("c", noteCall)
	e.Event("c", "tool_approval")
	e.Call("x", "cancel", map[string]any{"request_id": "c"})
	e.Error("c", "cancelled")
	wantStatus(t, e, "c", "cancelled")
	if answer(e, "c", "once") {
		t.Error("an answer was accepted after all")
	}
	tools.wantCalls()
	wantEnd(t, e, tools) // the host has checked that nothing follows the final frame
}

func TestEndsWhileApprovalsArePending(t *testing.T) {
	for name, c := range ends {
		if !c.final {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, tools := askingEngine(t, "")
			for i := range 3 {
				e.Chat(numbered("c", i), noteCall)
				e.Event(numbered("c", i), "tool_approval")
			}
			c.end(t, e)
			for i := range 3 {
				e.Error(numbered("c", i), "cancelled")
				wantStatus(t, e, numbered("c", i), "cancelled")
			}
			wantExit(t, e, c.status)
			tools.wantCalls()
			tools.wantGone()
		})
	}
}

// The end of input ends no call that runs, and denies those that nobody can be asked about any more.
func TestEndOfInputWithTools(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "requires_approval: ['t/note']")
	e := ready(t, s.start(host.Options{}))
	askForApprovals(e)
	e.Chat("runs", holdCall)
	tools.wantCalls("hold b")
	e.Chat("asks", noteCall)
	e.Event("asks", "tool_approval")
	e.CloseStdin()
	wantWhole(t, e, "asks", fakellama.Text(noteCall))
	wantStatus(t, e, "asks", "denied")
	tools.release()
	wantWhole(t, e, "runs", fakellama.Text(holdCall))
	wantStatus(t, e, "runs", "ok")
	wantExit(t, e, 0)
	tools.wantCalls("hold b")
	tools.wantGone()
}

// Many chats use one tool server at once, and each gets what it asked for.
func TestManyChatsWithTools(t *testing.T) {
	t.Parallel()
	const chats = 48
	s, tools := newToolWorld(t, "")
	s.app = ", max_parallel_chats: 64"
	e := ready(t, s.start(host.Options{}))
	for i := range chats {
		say(e, numbered("c", i), "u", numbered("s", i%12), fmt.Sprintf(`call=t__note args={"text":"%d"} calls=2 again=2`, i))
	}
	for i := range chats {
		id := numbered("c", i)
		wantWarnings(t, wantWhole(t, e, id, fakellama.Text(noteCall)))
		done := 0
		for _, m := range e.Events(id) {
			if m.Get("event").Str == "tool_done" && m.Get("preview").Str == numbered("noted ", i) && m.Get("status").Str == "ok" {
				done++
			}
		}
		if done != 4 {
			t.Errorf("%s has %d results of its own", id, done)
		}
	}
	if made := len(tools.calls()); made != 4*chats {
		t.Errorf("%d calls were made", made)
	}
	wantEnd(t, e, tools)
}
