package execute

import (
	"bytes"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// local is a chat with an agent of the configuration.
func local(input string) *wire.ChatStartParams {
	return &wire.ChatStartParams{Profile: wire.LocalProfile, WorkflowID: "assistant", Input: `"` + input + `"`, Text: input, IsText: true}
}

// remote is a chat with an agent of a gateway.
func remote(input string) *wire.ChatStartParams {
	return &wire.ChatStartParams{WorkflowID: "w", WorkflowName: "n", Input: `"` + input + `"`}
}

// TestLocalStream: the answer comes first, then the events of the turn, then one end.
func TestLocalStream(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		p := local("1s")
		p.WorkflowID, p.InteractionID = "ASSISTANT", "s1"
		stream := w.start(p)
		if got := w.out.last("start"); !reflect.DeepEqual(got, &wire.ChatStarted{Stream: stream, InteractionID: "s1", WorkflowID: "assistant", WorkflowName: "assistant"}) {
			t.Errorf("got %+v", got)
		}
		id := string(stream)
		if got := w.out.taken(); !slices.Equal(got, []string{"0s start ChatStarted", "0s " + id + " run_start", "0s " + id + " llm_start"}) || w.health() != 1 {
			t.Errorf("at first %q", got)
		}
		w.out.taken()
		w.after(time.Second)
		if got := w.out.taken(); !slices.Equal(got, []string{"1s " + id + " llm_done", "1s " + id + " final", "1s " + id + " result"}) || w.health() != 0 {
			t.Errorf("then %q", got)
		}
		if done := w.out.done(stream); done.SessionID != "s1" || done.Fault != nil {
			t.Errorf("the end is %+v", done)
		}
	})
}

// TestIDs: a stream's id and a new conversation's are random, the latter a UUID.
func TestIDs(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		seen, uuid := map[string]bool{}, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
		for range 50 {
			stream := string(w.start(remote("0s")))
			conversation := w.out.last("start").(*wire.ChatStarted).InteractionID
			if !uuid.MatchString(conversation) || len(stream) != 34 || seen[stream] || seen[conversation] {
				t.Errorf("%s, %s", stream, conversation)
			}
			seen[stream], seen[conversation] = true, true
		}
	})
}

func TestRemoteStream(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		p := &wire.ChatStartParams{WorkflowID: "wf", InteractionID: "c1", Input: `["1s"]`}
		stream := w.start(p)
		if got := w.out.last("start"); !reflect.DeepEqual(got, &wire.ChatStarted{Stream: stream, InteractionID: "c1", WorkflowID: "found wf", WorkflowName: "Found"}) {
			t.Errorf("got %+v", got)
		}
		if want := (wire.RemoteChat{WorkflowID: "found wf", WorkflowName: "Found", InteractionID: "c1", Input: `["1s"]`}); !slices.Equal(w.user.chats, []wire.RemoteChat{want}) {
			t.Errorf("sent %+v", w.user.chats)
		}
		stream = w.start(remote("1s"))
		if stats := w.call("stats", wire.MethodStats, nil).(*wire.Stats).Chats; len(stats) != 1 || stats[0].ID != stream || stats[0].State != stateRunning || stats[0].Tokens != 2 {
			t.Errorf("stats: %+v", stats)
		}
		w.after(time.Second)
		timings := w.out.done(stream).Timings()
		if timings.Total != time.Second || timings.Upstream != time.Second || w.health() != 0 {
			t.Errorf("it took %+v", timings)
		}
	})
}

// TestWarningsGoToTheLog: a stream has nobody else to tell.
func TestWarningsGoToTheLog(t *testing.T) {
	var log bytes.Buffer
	tools := &fakeTools{}
	options := Options{Tools: tools, Agents: []Agent{{Name: "assistant", Model: "ready", MaxSteps: 1, Tools: []string{"s/*"}}}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	inRPC(t, options, func(w rpcWorld) {
		stream := w.start(local("call s__ask"))
		w.after(time.Second)
		done := w.out.done(stream)
		if len(done.Warnings) == 0 || !strings.Contains(log.String(), done.Warnings[0]) || !strings.Contains(log.String(), "can't be asked") {
			t.Errorf("the warnings are %q, the log is %s", done.Warnings, log.String())
		}
		if asked := w.out.chats[0].calls; len(asked) != 0 || len(tools.calls()) != 0 {
			t.Errorf("asked for %v, called %q", asked, tools.calls())
		}
	})
}

// TestRefusedStreams have no stream: chat/start itself is answered with why.
func TestRefusedStreams(t *testing.T) {
	for name, c := range map[string]struct {
		params *wire.ChatStartParams
		want   wire.Code
	}{
		"no such profile":       {&wire.ChatStartParams{Profile: "nobody", WorkflowID: "w"}, wire.CodeNotFound},
		"no session":            {&wire.ChatStartParams{Profile: "out", WorkflowID: "w", WorkflowName: "n"}, wire.CodeAuthRequired},
		"no such agent":         {&wire.ChatStartParams{WorkflowID: "nobody"}, wire.CodeNotFound},
		"no path":               {&wire.ChatStartParams{WorkflowID: "w", WorkflowName: "n", InteractionID: "."}, wire.CodeInvalidParams},
		"a path above":          {&wire.ChatStartParams{WorkflowID: "w", WorkflowName: "n", InteractionID: ".."}, wire.CodeInvalidParams},
		"no such local agent":   {&wire.ChatStartParams{Profile: wire.LocalProfile, WorkflowID: "nobody", IsText: true}, wire.CodeNotFound},
		"no text for the local": {&wire.ChatStartParams{Profile: wire.LocalProfile, WorkflowID: "assistant", Input: `{}`}, wire.CodeUsage},
	} {
		t.Run(name, func(t *testing.T) {
			inRPC(t, Options{MaxParallelChats: 1}, func(w rpcWorld) {
				if code := codeOf(w.call("a", wire.MethodChatStart, c.params)); code != c.want || w.health() != 0 {
					t.Errorf("got %q", code)
				}
				w.start(local("0s")) // the place is free again
				w.after(time.Second)
				if w.health() != 0 || len(w.out.chats) != 2 || w.out.chats[0].finals != nil {
					t.Error("a chat that was refused had an end, or held its place")
				}
			})
		})
	}
	inRPC(t, Options{Unconfigured: wire.NewFault(wire.CodeConfigMissing, "no file")}, func(w rpcWorld) {
		if code := codeOf(w.call("a", wire.MethodChatStart, local(""))); code != wire.CodeConfigMissing {
			t.Errorf("got %q", code)
		}
		w.start(remote("0s")) // a gateway needs no configuration
	})
	inRPC(t, Options{}, func(w rpcWorld) {
		w.user.broken = true
		if code := codeOf(w.call("a", wire.MethodChatStart, remote(""))); code != wire.CodeInternal || w.health() != 0 {
			t.Errorf("a panic: %q", code)
		}
	})
}

// TestStreamsThatFail end with why.
func TestStreamsThatFail(t *testing.T) {
	for input, want := range map[string]wire.Code{"fail": wire.CodeNetwork, "panic": wire.CodeInternal} {
		inRPC(t, Options{MaxParallelChats: 1}, func(w rpcWorld) {
			stream := w.start(remote(input))
			if done := w.out.done(stream); done == nil || codeOf(done.Fault) != want || w.health() != 0 {
				t.Errorf("%s: %+v", input, done)
			}
			w.start(remote("0s"))
			if w.health() != 0 {
				t.Error("it held its place")
			}
		})
	}
}

// TestStreamsWait in arrival order when too many run, and are refused when too many wait.
func TestStreamsWait(t *testing.T) {
	inRPC(t, Options{MaxParallelChats: 1, MaxPendingRequests: 1}, func(w rpcWorld) {
		first, second := w.start(remote("1s")), w.start(local("1s"))
		if code := codeOf(w.call("third", wire.MethodChatStart, remote("1s"))); code != wire.CodeOverloaded || w.health() != 2 {
			t.Errorf("the third: %q", code)
		}
		w.out.taken()
		w.after(time.Second)
		if got := w.out.taken(); !slices.Contains(got, "1s "+string(first)+" result") || !slices.Contains(got, "1s "+string(second)+" llm_start") {
			t.Errorf("after a second: %q", got)
		}
	})
}
