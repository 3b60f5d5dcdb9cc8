package execute

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"sluice/internal/wire"
)

func TestInitialize(t *testing.T) {
	for _, c := range []struct {
		params *wire.InitializeParams
		ok     bool
		want   Extensions
	}{
		{&wire.InitializeParams{}, true, Extensions{}},
		{&wire.InitializeParams{Versions: []int64{1}}, true, Extensions{}},
		{&wire.InitializeParams{Versions: []int64{3, 2, 1}, Extensions: []string{"offsets", "progress", "x"}}, true, Extensions{Offsets: true, Progress: true}},
		{&wire.InitializeParams{Versions: []int64{1}, Extensions: []string{"reasoning"}}, true, Extensions{Reasoning: true}},
		{&wire.InitializeParams{Extensions: []string{"reasoning", "offsets"}}, true, Extensions{Offsets: true, Reasoning: true}},
		{&wire.InitializeParams{Extensions: []string{"approval"}}, true, Extensions{Approval: true}},
		{&wire.InitializeParams{Versions: []int64{}, Extensions: []string{"offsets"}}, false, Extensions{}},
		{&wire.InitializeParams{Versions: []int64{2, 0}, Extensions: []string{"offsets"}}, false, Extensions{}},
	} {
		inWorld(t, Options{Version: "v1", MaxParallelChats: 4, Lossless: true}, func(w *world) {
			reply := w.ask(wire.MethodInitialize, c.params)
			want := &wire.Initialized{ProtocolVersion: 1, ServerVersion: "v1", MaxParallelChats: 4, Lossless: true, Extensions: []string{"offsets", "reasoning", "progress", "approval"}}
			if fault, refused := reply.(*wire.Fault); refused == c.ok || refused && (fault.Code != wire.CodeInvalidRequest || !strings.Contains(fault.Message, "version 1")) {
				t.Errorf("%+v: got %v", c.params, reply)
			} else if !refused && !reflect.DeepEqual(reply, want) {
				t.Errorf("%+v: got %+v", c.params, reply)
			}
			w.chat("0s", "a")
			if got := w.out.chats[0].extensions; got != c.want {
				t.Errorf("%+v: the chat has %+v", c.params, got)
			}
		})
	}
}

// TestExtensionsAreOfTheTimeOfAcceptance switches them on while chats wait.
func TestExtensionsAreOfTheTimeOfAcceptance(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.chat("1s", "a", "b")
		w.ask(wire.MethodInitialize, &wire.InitializeParams{Extensions: []string{"offsets"}})
		w.chat("1s", "c")
		for i, want := range []bool{false, false, true} {
			if w.out.chats[i].extensions.Offsets != want {
				t.Errorf("chat %d has %+v", i, w.out.chats[i].extensions)
			}
		}
	})
}

// TestControlRequestsDuringChats answers them while chats run and while a model loads.
func TestControlRequestsDuringChats(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2}, func(w *world) {
		w.chatWith("a", &wire.ChatParams{Agent: "slow"})
		w.chat("1h", "b", "c")
		for method, want := range map[wire.Method]wire.Reply{wire.MethodPing: &wire.Pong{}, wire.MethodStats: &wire.Stats{}, wire.MethodInitialize: &wire.Initialized{}, wire.MethodCancel: &wire.CancelDone{}} {
			params := map[wire.Method]any{wire.MethodInitialize: &wire.InitializeParams{}, wire.MethodCancel: &wire.CancelParams{Target: "x"}}[method]
			if got := w.ask(method, params); reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Errorf("%d: got %T", method, got)
			}
		}
	})
}

func TestStatsListChats(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2}, func(w *world) {
		list := func(want ...wire.ChatStats) {
			t.Helper()
			s := w.ask(wire.MethodStats, nil).(*wire.Stats)
			if s.Merged != 7 || len(s.Chats) != len(want) || len(want) > 0 && !reflect.DeepEqual(s.Chats, want) {
				t.Errorf("got %+v", s.Chats)
			}
		}
		list()
		w.chat("10m", "b")
		w.after(time.Second)
		w.chatWith("a", &wire.ChatParams{Agent: "slow", Input: "1h"})
		w.after(time.Second)
		w.chat("1h", `"c"`)
		const s, m = time.Second, time.Minute
		list(wire.ChatStats{ID: "b", State: "running", Since: 2 * s, Tokens: 3}, wire.ChatStats{ID: "a", State: "starting", Since: s}, wire.ChatStats{ID: `"c"`, State: "waiting"})
		w.after(2 * m)
		list(wire.ChatStats{ID: "b", State: "running", Since: 2*m + 2*s, Tokens: 3}, wire.ChatStats{ID: "a", State: "queued", Since: 2*m + s}, wire.ChatStats{ID: `"c"`, State: "waiting", Since: 2 * m})
		w.after(10 * m)
		list(wire.ChatStats{ID: "a", State: "running", Since: 12*m + s, Tokens: 3}, wire.ChatStats{ID: `"c"`, State: "running", Since: 12 * m, Tokens: 3})
		w.models.idle = 0
		w.cancelling("a")
		w.after(100 * time.Millisecond)
		if s := w.ask(wire.MethodStats, nil).(*wire.Stats); s.Chats[0].State != "ending" {
			t.Errorf("got %+v", s.Chats)
		}
	})
}

func TestWarmup(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.models.load = 2 * time.Second
		for id, agent := range map[wire.ID]string{"ready": "", "broken": "broken", "panics": "panics"} {
			_ = w.push(request(id, wire.MethodWarmup, &wire.WarmupParams{Agent: agent}, 10))
		}
		w.after(time.Minute)
		if got, ok := w.out.last("ready").(*wire.WarmupDone); !ok || got.Load != 2*time.Second {
			t.Errorf("got %+v", w.out.last("ready"))
		}
		for id, code := range map[wire.ID]wire.Code{"broken": wire.CodeModelMissing, "panics": wire.CodeInternal} {
			if fault, ok := w.out.last(id).(*wire.Fault); !ok || fault.Code != code {
				t.Errorf("%s: got %+v", id, w.out.last(id))
			}
		}
	})
}

// TestShutdown: what stands in front of it runs, what stands behind it is not served, and it is
// answered last.
func TestShutdown(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		err := w.push(request("a", wire.MethodChat, &wire.ChatParams{Input: "1h"}, 1), request("end", wire.MethodShutdown, nil, 1), request("late", wire.MethodPing, nil, 1))
		if !errors.Is(err, ErrShutdown) {
			t.Errorf("got %v", err)
		}
		w.saying("0s a run_start", "0s a llm_start")
		w.Stop(errors.New("shutdown"))
		w.Wait()
		w.Farewell()
		w.Farewell()
		w.saying("0s a llm_done", "0s a cancelled", "0s end ShutdownDone")
	})
}

func TestFaultsAreAnswered(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		bad := request("a", wire.MethodChat, nil, 1)
		bad.Fault = wire.NewFault(wire.CodeInvalidRequest, "no")
		none := wire.Request{Fault: wire.NewFault(wire.CodeInvalidJSON, "no")}
		// A request that no stage in front let through is met by a panic here, and answered.
		wild := request("b", wire.MethodChat, nil, 1)
		if err := w.push(bad, none, wild, request("c", wire.MethodPing, nil, 1)); err != nil {
			t.Error(err)
		}
		w.saying("0s a invalid_request", "0s  invalid_json", "0s b internal_error", "0s c Pong")
	})
}

// TestBorrowedIDs changes the line after Push, as the source does.
func TestBorrowedIDs(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		line := []byte("chatwarmcancelstop")
		id := func(from, to int) wire.ID { return borrowed(line[from:to]) }
		_ = w.push(request(id(0, 4), wire.MethodChat, &wire.ChatParams{Input: "1s"}, 1), request(id(4, 8), wire.MethodWarmup, &wire.WarmupParams{Agent: "slow"}, 1))
		_ = w.push(request(id(14, 18), wire.MethodShutdown, nil, 1))
		clear(line)
		w.after(time.Hour)
		w.Wait()
		w.Farewell()
		w.saying("0s chat run_start", "0s chat llm_start", "1s chat llm_done", "1s chat final", "1s chat result", "3m0s warm WarmupDone", "1h0m0s stop ShutdownDone")
	})
}

// TestChannel feeds it over a channel, as foreign operators do.
func TestChannel(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		in := w.In()
		if again := w.In(); again != in {
			t.Error("there are two channels")
		}
		in <- &wire.Requests{Items: []wire.Request{request("a", wire.MethodPing, nil, 1)}}
		in <- &wire.Requests{Items: []wire.Request{request("b", wire.MethodShutdown, nil, 1)}}
		in <- &wire.Requests{Items: []wire.Request{request("c", wire.MethodPing, nil, 1)}}
		close(in)
		w.AwaitCompletion()
		w.saying("0s a Pong")
	})
}

// TestForeignElements are what only a foreign operator can send.
func TestForeignElements(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		if err := w.Push(context.Background(), "a line"); err == nil || !strings.Contains(err.Error(), "not string") {
			t.Errorf("got %v", err)
		}
	})
}

func borrowed(line []byte) wire.ID { return wire.ID(unsafe.String(&line[0], len(line))) }
