package execute

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestAsides are answered beside everything else.
func TestAsides(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		enabled := true
		for _, c := range []struct {
			method wire.Method
			params any
			want   wire.Reply
		}{
			{wire.MethodProfileList, nil, &wire.ProfileList{Items: w.user.profiles}},
			{wire.MethodProfileSet, &wire.ProfileSetParams{Name: "lab", ServerURL: "u"}, &wire.Profile{Name: "lab", ServerURL: "u"}},
			{wire.MethodProfileUse, &wire.ProfileParams{Profile: "lab"}, &wire.Profile{Name: "lab", ServerURL: "u"}},
			{wire.MethodAuthStatus, &wire.ProfileParams{}, &wire.AuthStatus{Reason: wire.AuthNetwork}},
			{wire.MethodLogout, &wire.ProfileParams{}, &wire.LogoutDone{}},
			{wire.MethodLogout, &wire.ProfileParams{Profile: "locked"}, wire.NewFault(wire.CodeCredentialStore, "it is locked")},
			{wire.MethodAgentsList, &wire.AgentsParams{Query: wire.AgentQuery{Page: 3}}, &wire.AgentPage{Page: 3, Items: []wire.AgentInfo{{WorkflowID: "u"}}}},
			{wire.MethodAgentsList, &wire.AgentsParams{Profile: "nobody"}, wire.NewFault(wire.CodeNotFound, "no such profile")},
			{wire.MethodConversations, &wire.ProfileParams{}, &wire.ConversationList{Items: []wire.Conversation{{InteractionID: "u"}}}},
			{wire.MethodTurns, &wire.HistoryParams{WorkflowID: "w", InteractionID: "i"}, &wire.TurnList{Items: []wire.HistoryTurn{{WorkflowID: "w", InteractionID: "i"}}}},
			{wire.MethodSnapshot, &wire.HistoryParams{WorkflowID: "w", WorkflowName: "n", InteractionID: "i"},
				&wire.Snapshot{History: wire.History{Turns: []wire.HistoryTurn{{WorkflowID: "w", WorkflowName: "n", InteractionID: "i"}}, Running: true}}},
			{wire.MethodToolsConfigure, &wire.ToolsConfigureParams{Change: wire.LocalToolsChange{Enabled: &enabled}}, &wire.ToolsStatus{Config: wire.LocalTools{Enabled: true}}},
			{wire.MethodToolsStatus, nil, &wire.ToolsStatus{Config: wire.LocalTools{Enabled: true}}},
			{wire.MethodToolsStop, nil, &wire.ToolsStatus{Config: wire.LocalTools{Enabled: true}}},
			{wire.MethodToolsList, nil, &wire.ToolList{}},
		} {
			if got := w.call("a", c.method, c.params); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %+v; want %+v", methods[c.method], got, c.want)
			}
		}
		for _, method := range []wire.Method{wire.MethodToolsRun, wire.MethodToolsStart} {
			if code := codeOf(w.call("a", method, nil)); code != wire.CodeLocalToolsDisabled {
				t.Errorf("%s: %q", methods[method], code)
			}
		}
		w.user.broken = true
		if code := codeOf(w.call("a", wire.MethodAgentsList, &wire.AgentsParams{})); code != wire.CodeInternal {
			t.Errorf("a panic: %q", code)
		}
	})
}

// TestASlowSignIn holds nothing else up, and is bounded like everything that waits.
func TestASlowSignIn(t *testing.T) {
	inRPC(t, Options{MaxPendingRequests: 1}, func(w rpcWorld) {
		login := &wire.LoginParams{Profile: "corp", Email: "a", Password: "b"}
		if got := w.call("login", wire.MethodLogin, login); got != nil {
			t.Errorf("it is answered %v", got)
		}
		if code := codeOf(w.call("second", wire.MethodLogin, login)); code != wire.CodeOverloaded || w.health() != 0 {
			t.Errorf("the second: %q", code)
		}
		w.after(time.Minute)
		if got := w.out.last("login"); !reflect.DeepEqual(got, &wire.AuthStatus{Profile: "corp", Authenticated: true}) {
			t.Errorf("got %+v", got)
		}
		w.call("third", wire.MethodLogin, login)
		w.Stop(errors.New("over"))
		w.Wait()
		if code := codeOf(w.out.last("third")); code != wire.CodeCancelled {
			t.Errorf("at the end: %q", code)
		}
		if code := codeOf(w.call("late", wire.MethodProfileList, nil)); code != wire.CodeCancelled {
			t.Errorf("after the end: %q", code)
		}
	})
}

// TestChangesAreSeen: what is sent behind a change sees it, though each request has a goroutine.
func TestChangesAreSeen(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.slow = time.Second
		err := w.push(
			request("1", wire.MethodProfileSet, &wire.ProfileSetParams{Name: "lab", ServerURL: "lab:"}, 1),
			request("2", wire.MethodProfileUse, &wire.ProfileParams{Profile: "lab"}, 1),
			request("3", wire.MethodAgentsList, &wire.AgentsParams{}, 1),
			request("4", wire.MethodChatStart, &wire.ChatStartParams{Profile: "lab", WorkflowID: "w", Input: `"1s"`}, 1),
			request("5", wire.MethodProfileUse, &wire.ProfileParams{Profile: "corp"}, 1),
			request("6", wire.MethodHealth, nil, 1),
		)
		if err != nil {
			t.Error(err)
		}
		w.saying("0s 6 Health")
		w.after(500 * time.Millisecond)
		w.saying()
		w.after(600 * time.Millisecond)
		if page, _ := w.out.last("3").(*wire.AgentPage); page == nil || page.Items[0].WorkflowID != "lab:" {
			t.Errorf("the list is %+v", w.out.last("3"))
		}
		if _, started := w.out.last("4").(*wire.ChatStarted); !started || w.user.current != "corp" {
			t.Errorf("the chat: %+v; the current profile is %s", w.out.last("4"), w.user.current)
		}
	})
}

// TestWhatWaitsForItsPlaceEnds with the engine, and lets the next one come.
func TestWhatWaitsForItsPlaceEnds(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.slow = time.Hour
		w.call("1", wire.MethodProfileSet, &wire.ProfileSetParams{Name: "lab"})
		w.call("2", wire.MethodProfileList, nil)
		w.call("3", wire.MethodChatStart, remote("0s"))
		w.Stop(errors.New("over"))
		w.Wait()
		for _, id := range []wire.ID{"1", "2", "3"} {
			if code := codeOf(w.out.last(id)); code != wire.CodeCancelled {
				t.Errorf("%s: %q", id, code)
			}
		}
	})
}

// TestAStopHoldsNothingUp though the gateway takes its time for it.
func TestAStopHoldsNothingUp(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.stopTime = time.Minute
		stream := w.start(remote("1h"))
		if got := w.call("stop", wire.MethodChatStop, &wire.StreamParams{Stream: stream}); got != nil {
			t.Errorf("it is answered %v", got)
		}
		if got, _ := w.call("use", wire.MethodProfileUse, &wire.ProfileParams{Profile: "out"}).(*wire.Profile); got == nil {
			t.Error("a change waits for it")
		}
		w.after(time.Minute)
		if got := w.out.last("stop"); !reflect.DeepEqual(got, &wire.StopResult{Cancelled: true, Stopped: true}) {
			t.Errorf("got %+v", got)
		}
	})
}

// TestAFrozenKeychainHoldsNothingUp: what follows sees the change, which is written by then.
func TestAFrozenKeychainHoldsNothingUp(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.frozen = time.Minute
		set := &wire.ProfileSetParams{Name: "corp", ServerURL: "https://new"}
		if got := w.call("set", wire.MethodProfileSet, set); got != nil {
			t.Errorf("set is answered %v", got)
		}
		if got := w.call("out", wire.MethodLogout, &wire.ProfileParams{}); got != nil {
			t.Errorf("logout is answered %v", got)
		}
		if page, _ := w.call("agents", wire.MethodAgentsList, &wire.AgentsParams{}).(*wire.AgentPage); page == nil || page.Items[0].WorkflowID != "https://new" {
			t.Errorf("the list is %+v", w.out.last("agents"))
		}
		w.start(remote("0s"))
		w.after(time.Minute)
		if got := w.out.last("set"); !reflect.DeepEqual(got, &wire.Profile{Name: "corp", ServerURL: "https://new"}) {
			t.Errorf("set is answered %+v", got)
		}
	})
}

// TestWhatNamesLocalWaitsForNoFile, nor does what has to do with none.
func TestWhatNamesLocalWaitsForNoFile(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.slow = time.Hour // another engine has the lock
		w.call("set", wire.MethodProfileSet, &wire.ProfileSetParams{Name: "lab", ServerURL: "lab:"})
		w.start(local("0s"))
		for _, c := range []struct {
			method wire.Method
			params any
		}{
			{wire.MethodAgentsList, &wire.AgentsParams{Profile: wire.LocalProfile}},
			{wire.MethodConversations, &wire.ProfileParams{Profile: wire.LocalProfile}},
			{wire.MethodTurns, &wire.HistoryParams{Profile: wire.LocalProfile, WorkflowID: "assistant", InteractionID: "s1"}},
			{wire.MethodLogout, &wire.ProfileParams{Profile: wire.LocalProfile}},
			{wire.MethodChatStop, &wire.StreamParams{InteractionID: "x", Profile: wire.LocalProfile}},
			{wire.MethodChatStop, &wire.StreamParams{Stream: `"x"`}},
			{wire.MethodToolsRun, nil},
			{wire.MethodToolsList, nil},
		} {
			if w.call("a", c.method, c.params) == nil {
				t.Errorf("%s waits", methods[c.method])
			}
		}
		if w.call("b", wire.MethodAgentsList, &wire.AgentsParams{}) != nil {
			t.Error("what means the current profile doesn't wait for its change")
		}
	})
}

// TestAPasswordGoesWhereItWasMeantTo: not to a server that was set later.
func TestAPasswordGoesWhereItWasMeantTo(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		err := w.push(
			request("1", wire.MethodLogin, &wire.LoginParams{Email: "a", Password: "b"}, 1),
			request("2", wire.MethodAuthStatus, &wire.ProfileParams{}, 1),
			request("3", wire.MethodLogout, &wire.ProfileParams{}, 1),
			request("4", wire.MethodProfileSet, &wire.ProfileSetParams{Name: "corp", ServerURL: "https://later"}, 1),
		)
		if err != nil {
			t.Error(err)
		}
		w.after(time.Second)
		w.user.mu.Lock()
		defer w.user.mu.Unlock()
		if len(w.user.asked) != 3 {
			t.Errorf("asked at %+v", w.user.asked)
		}
		for _, p := range w.user.asked {
			if p.ServerURL != "https://corp" {
				t.Errorf("asked at %+v", p)
			}
		}
	})
}
