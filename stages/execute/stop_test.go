package execute

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestCancelledStreams, in each of their states.
func TestCancelledStreams(t *testing.T) {
	inRPC(t, Options{MaxParallelChats: 1}, func(w rpcWorld) {
		cancel := func(stream wire.ID) bool {
			return w.call("cancel", wire.MethodChatCancel, &wire.StreamParams{Stream: stream}).(*wire.CancelDone).Cancelled
		}
		running, waiting := w.start(remote("1h")), w.start(remote("1h"))
		for _, stream := range []wire.ID{waiting, running} {
			if !cancel(stream) || cancel(stream) || codeOf(w.out.done(stream).Fault) != wire.CodeCancelled {
				t.Errorf("the end of %s is %+v", stream, w.out.done(stream))
			}
		}
		if cancel(`"nobody"`) || len(w.user.stopped) != 0 {
			t.Errorf("a cancel stopped %q", w.user.stopped)
		}
		w.start(local("0s"))
	})
}

// TestStopWhileOpening: a stream that the host doesn't know of yet is stopped by its conversation.
func TestStopWhileOpening(t *testing.T) {
	inRPC(t, Options{MaxParallelChats: 1}, func(w rpcWorld) {
		for range 2 { // the second waits for its turn besides
			if got := w.call("start", wire.MethodChatStart, &wire.ChatStartParams{WorkflowID: "slow", InteractionID: "c1", Input: `""`}); got != nil {
				t.Fatalf("it is answered %v", got)
			}
		}
		if w.health() != 0 {
			t.Error("it counts as a stream")
		}
		if got := w.call("stop", wire.MethodChatStop, &wire.StreamParams{InteractionID: "c1"}); !reflect.DeepEqual(got, &wire.StopResult{Cancelled: true, Stopped: true}) {
			t.Errorf("got %+v", got)
		}
		if w.out.count("start") != 2 || codeOf(w.out.last("start")) != wire.CodeCancelled {
			t.Errorf("chat/start was answered %v", w.out.last("start"))
		}
		w.start(remote("0s"))
	})
}

func TestStopStreams(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		stop := func(p wire.StreamParams) wire.Reply {
			w.user.stopped = nil
			return w.call("stop", wire.MethodChatStop, &p)
		}
		conversation := func(id string) *wire.ChatStartParams {
			p := remote("1h")
			p.InteractionID = id
			return p
		}
		expect := func(what string, got, want wire.Reply, asked ...string) {
			t.Helper()
			if !reflect.DeepEqual(got, want) || !slices.Equal(w.user.stopped, asked) {
				t.Errorf("%s: got %+v, asked %q", what, got, w.user.stopped)
			}
		}
		stream := w.start(conversation("c1"))
		expect("a stream", stop(wire.StreamParams{Stream: stream}), &wire.StopResult{Cancelled: true, Stopped: true}, "corp c1")
		w.start(conversation("c1"))
		w.start(conversation("c1"))
		expect("a conversation", stop(wire.StreamParams{InteractionID: "c1"}), &wire.StopResult{Cancelled: true, Stopped: true}, "corp c1")
		if w.health() != 0 {
			t.Error("one of its streams goes on")
		}
		w.start(conversation("none"))
		expect("that has ended", stop(wire.StreamParams{InteractionID: "none"}), &wire.StopResult{Cancelled: true, Reason: wire.StopNotRunning}, "corp none")
		w.start(conversation("denied"))
		expect("without a session", stop(wire.StreamParams{InteractionID: "denied"}), &wire.StopResult{Cancelled: true, Reason: wire.StopError}, "corp denied")
		expect("of nobody's stream", stop(wire.StreamParams{InteractionID: "x", Profile: "out"}), &wire.StopResult{Stopped: true}, "out x")
		expect("nor session", stop(wire.StreamParams{InteractionID: "denied"}), wire.NewFault(wire.CodeAuthRequired, "sign in first"), "corp denied")
		expect("an unknown stream", stop(wire.StreamParams{Stream: `"x"`}), &wire.StopResult{Reason: wire.StopNotRunning})
		expect("an unknown profile", stop(wire.StreamParams{InteractionID: "x", Profile: "nobody"}), wire.NewFault(wire.CodeNotFound, "no such profile"))
		mine := local("1h")
		mine.InteractionID = "c2"
		w.start(mine)
		expect("our own", stop(wire.StreamParams{InteractionID: "c2"}), &wire.StopResult{Cancelled: true, Stopped: true})
		w.after(time.Second)
		expect("our own, ended", stop(wire.StreamParams{InteractionID: "c2", Profile: wire.LocalProfile}), &wire.StopResult{Reason: wire.StopNotRunning})
	})
}

// TestTheEndOfStreams: whatever runs, waits or opens at the end has one answer or end.
func TestTheEndOfStreams(t *testing.T) {
	inRPC(t, Options{MaxParallelChats: 1}, func(w rpcWorld) {
		streams := []wire.ID{w.start(remote("1h")), w.start(local("1h"))}
		w.call("opening", wire.MethodChatStart, &wire.ChatStartParams{WorkflowID: "slow", Input: `""`})
		w.Stop(errors.New("over"))
		w.Wait()
		for _, stream := range streams {
			if done := w.out.done(stream); done == nil || codeOf(done.Fault) != wire.CodeCancelled || !strings.Contains(done.Fault.Message, "shutting down") {
				t.Errorf("%s: %+v", stream, done)
			}
		}
		if code := codeOf(w.out.last("opening")); code != wire.CodeCancelled {
			t.Errorf("the one that opened: %q", code)
		}
		if code := codeOf(w.call("late", wire.MethodChatStart, remote(""))); code != wire.CodeCancelled {
			t.Errorf("after the end: %q", code)
		}
	})
}
