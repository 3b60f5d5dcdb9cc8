//go:build unix

package main

import (
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

func TestChatEventsInOrder(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "", host.Options{})
	for id, steer := range map[string]string{"plain": "n=20", "bytes": "n=20 frag=1 tok=é😀", "one": "n=1", "none": "n=0"} {
		e.Chat(id, steer)
		want := fakellama.Text(steer)
		result := wantWhole(t, e, id, want)
		names := strings.Replace(e.Names(id), " llm_chunk", "", 1)
		if names != "[run_start memory_start llm_start llm_done final]" {
			t.Errorf("%s: the events are %s", id, e.Names(id))
		}
		if got := e.Event(id, "final").Get("response").String(); got != want {
			t.Errorf("%s: final tells %q", id, got)
		}
		if result.Get("finish_reason").Str != "stop" || result.Get("usage.prompt_tokens").Int() != 7 {
			t.Errorf("%s: the result is %s", id, result.Raw)
		}
	}
}

func TestUpstreamFaultsEndOneChat(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "", host.Options{})
	for steer, word := range map[string]string{
		"n=9 die=4":  "broke",
		"n=9 cut=4":  "broke",
		"n=9 err=4":  "steered in mid-stream",
		"status=500": "HTTP 500",
		"status=404": "HTTP 404",
	} {
		e.Chat(steer, steer)
		final := e.Error(steer, "internal_error", word)
		want := ""
		if strings.HasPrefix(steer, "n=9") {
			want = fakellama.Text("n=4")
		}
		if got := final.Get("data.response").String(); got != want || got != e.Text(steer) {
			t.Errorf("%s: the partial response is %q, the chunks are %q", steer, got, e.Text(steer))
		}
	}
	e.Chat("next", "n=5")
	wantWhole(t, e, "next", fakellama.Text("n=5"))
}

func TestASCII(t *testing.T) {
	t.Parallel()
	const steer = "n=10 tok=é\u2028😀"
	e, _ := attached(t, "output: {ascii: true}\n", host.Options{})
	e.Raw(`{"id":"ü","method":"chat","params":{"input":"` + steer + `"}}` + "\n")
	wantWhole(t, e, "ü", fakellama.Text(steer))
	for _, m := range e.Messages() {
		if strings.ContainsFunc(m.Raw, func(r rune) bool { return r > '~' }) {
			t.Errorf("not ASCII: %s", m.Raw)
		}
	}
}

// The extensions are for hosts that name them, from their next chat on.
func TestExtensions(t *testing.T) {
	t.Parallel()
	const steer = "n=20 think=3 tok=é"
	e, _ := attached(t, "", host.Options{})
	e.Chat("before", steer)
	wantWhole(t, e, "before", fakellama.Text(steer))
	for _, m := range e.Events("before") {
		if m.Get("offset").Exists() || m.Get("event").Str == "llm_reasoning" {
			t.Errorf("nobody asked for %s", m.Raw)
		}
	}
	hello := e.Call("i", "initialize", map[string]any{"protocol_versions": []int{7, 1},
		"capabilities": map[string]any{"extensions": []string{"offsets", "reasoning", "unknown"}}})
	if hello.Get("result.protocol_version").Int() != 1 {
		t.Errorf("initialize got %s", hello.Raw)
	}
	e.Chat("after", steer)
	wantWhole(t, e, "after", fakellama.Text(steer))
	offset, reasoning := 0, ""
	for _, m := range e.Events("after") {
		switch m.Get("event").Str {
		case "llm_chunk":
			if got := m.Get("offset"); got.Type.String() != "Number" || int(got.Int()) != offset {
				t.Errorf("the offset is %s, want %d", got.Raw, offset)
			}
			offset += len(m.Get("delta").String())
		case "llm_reasoning":
			reasoning += m.Get("delta").String()
		}
	}
	if reasoning != " t0 t1 t2" {
		t.Errorf("the reasoning is %q", reasoning)
	}
	e.Call("v", "initialize", map[string]any{"protocol_versions": []int{2}})
	e.Error("v", "invalid_request", "1")
}

func TestSecondChatWithARunningID(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "", host.Options{Reused: true})
	e.Chat("c", "n=9 hang=3")
	server.WaitBusy(1)
	e.Chat("c", "n=1")
	e.Error("c", "invalid_request", "id")
	e.Send("x", "cancel", map[string]any{"request_id": "c"})
	e.Wait("the first chat's final frame", func(m host.Message) bool {
		return m.Get("id").Str == "c" && m.Get("code").Str == "cancelled"
	})
	if server.WaitAnswers(1); server.Most() != 1 {
		t.Error("the second chat reached the model")
	}
}

func TestChatsWaitInOrderAndTooManyAreRefused(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "app: {max_parallel_chats: 2}\ninput: {max_pending_requests: 2}\n", host.Options{})
	for i := range 4 {
		e.Chat(numbered("c", i), "n=9 hang=3")
	}
	server.WaitBusy(2)
	e.Chat("c4", "n=1")
	e.Error("c4", "overloaded")
	if server.Most() != 2 {
		t.Errorf("%d chats run at once", server.Most())
	}
	for i := range 4 {
		e.Event(numbered("c", i), "llm_chunk")
		e.Call(numbered("x", i), "cancel", map[string]any{"request_id": numbered("c", i)})
		e.Error(numbered("c", i), "cancelled")
	}
	e.Chat("c5", "n=1")
	wantWhole(t, e, "c5", fakellama.Text("n=1"))
}

// A server that is attached to shows all chats at once what its configuration allows.
func TestAttachedServerIsNotOversubscribed(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "models: [{name: m, parallel: 2}]\n", host.Options{})
	for i := range 8 {
		e.Chat(numbered("c", i), "n=30 rest=1ms")
	}
	for i := range 8 {
		wantWhole(t, e, numbered("c", i), fakellama.Text("n=30"))
	}
	if server.Most() != 2 {
		t.Errorf("%d requests at once", server.Most())
	}
}

func TestLoadingModelIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{Loading: true})
	e := spawn(t, "llama_server: {url: '"+server.URL+"'}\n", host.Options{})
	e.Chat("c", "n=5")
	server.WaitAsked(2)
	wantAlive(t, e)
	if stats := e.Call("s", "stats", nil); stats.Get("result.chats.0.state").Str != "starting" {
		t.Errorf("stats are %s", stats.Raw)
	}
	server.Loaded()
	wantWhole(t, e, "c", fakellama.Text("n=5"))
}

func TestLoadingModelIsNotWaitedForEver(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{Loading: true})
	e := spawn(t, "llama_server: {url: '"+server.URL+"', startup_timeout: 200ms}\n", host.Options{})
	e.Chat("c", "n=5")
	e.Error("c", "internal_error", "startup_timeout")
	server.Loaded()
	e.Chat("d", "n=5")
	wantWhole(t, e, "d", fakellama.Text("n=5"))
}

func TestSilentUpstreamIsCancelled(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "", host.Options{})
	e.Chat("c", "hang=0")
	server.WaitBusy(1)
	if !e.Call("x", "cancel", nil).Get("result.cancelled").Bool() {
		t.Error("the only chat is the one to cancel")
	}
	if stop := e.Error("c", "cancelled").Get("data.stop_ms"); stop.Type.String() != "Number" || stop.Int() > 1000 {
		t.Errorf("stop_ms is %s", stop.Raw)
	}
	if e.Call("y", "cancel", map[string]any{"request_id": "c"}).Get("result.cancelled").Bool() {
		t.Error("an ended chat was cancelled")
	}
	server.WaitIdle()
}
