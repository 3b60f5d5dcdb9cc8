//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

func TestRealChat(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(quick, one, host.Options{Env: []string{"SLUICE_LOG_LEVEL=debug", "LLAMA_ARG_CTX_SIZE=1", "OTHER=kept"}})
	wantAlive(t, e)
	if len(r.pids()) != 0 {
		t.Error("a server runs before the first chat")
	}
	for i := range 3 {
		id := numbered("c", i)
		e.Chat(id, "What is a pipe?")
		result := wantText(t, e, id)
		if names := e.Names(id); names != "[run_start memory_start llm_start llm_chunk llm_done final]" {
			t.Errorf("the events are %s", names)
		}
		if result.Get("finish_reason").Str != "stop" || result.Get("usage.completion_tokens").Int() == 0 || result.Get("timings.total_ms").Int() == 0 {
			t.Errorf("the result is %s", result.Raw)
		}
	}
	if len(r.pids()) != 1 {
		t.Errorf("servers were started: %v", r.pids())
	}
	if props, err := r.ask("/props"); err != nil || !gjson.Valid(props) {
		t.Errorf("the server does not know the key: %v", err)
	}
	if key, _ := os.ReadFile(r.path("key")); strings.Contains(strings.Join(r.left(), " ")+e.Stderr(), strings.TrimSpace(string(key))) {
		t.Error("the key is told in the arguments or the log")
	}
	env, _ := os.ReadFile(r.path("env"))
	if text := string(env); strings.Contains(text, "SLUICE_LOG") || strings.Contains(text, "LLAMA_ARG_") || !strings.Contains(text, "OTHER=kept") {
		t.Errorf("the server's environment is %s", env)
	}
	guardian := guardianOf(t, e.PID())
	e.CloseStdin()
	wantExit(t, e, 0)
	r.wantNothingLeft(guardian)
}

// The metrics are asked all the time: no request ever waits at the server, ours is the queue.
func TestRealEightChatsOnFewSlots(t *testing.T) {
	for name, c := range map[string]struct {
		args, config string
		slots        int
	}{
		"ours":         {"", one, 2},
		"the server's": {`, "--parallel", "3"`, "models: [{path: model.gguf}]\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			e := r.start(endless+`, "--metrics"`+c.args, c.config+"agents: [{max_tokens: 150}]\n", host.Options{})
			e.Call("w", "warmup", nil)
			for i := range 8 {
				e.Chat(numbered("c", i), "Tell me of streams.")
			}
			wantNeverMore(t, r, e, c.slots)
			for i := range 8 {
				result := wantText(t, e, numbered("c", i))
				if n := result.Get("usage.completion_tokens").Int(); n != 150 {
					t.Errorf("%d tokens", n)
				}
			}
		})
	}
}

// wantNeverMore watches the server until eight chats and a warmup have ended.
func wantNeverMore(t *testing.T, r *real, e *host.Engine, slots int) {
	t.Helper()
	most := 0
	testkit.Until(t, "all chats have ended", func() bool {
		processing, deferred := r.requests()
		most = max(most, processing)
		if deferred > 0 || processing > slots {
			t.Fatalf("%d requests run and %d wait at the server", processing, deferred)
		}
		return finals(e) == 9
	})
	if most != slots {
		t.Errorf("%d requests at once were seen", most)
	}
}

// requests are how many requests run and wait, by the server's metrics.
func (r *real) requests() (processing, deferred int) {
	text, _ := r.ask("/metrics")
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "llamacpp:requests_processing":
			processing, _ = strconv.Atoi(value)
		case "llamacpp:requests_deferred":
			deferred, _ = strconv.Atoi(value)
		}
	}
	return processing, deferred
}

// finals counts the final frames that came.
func finals(e *host.Engine) (n int) {
	for _, m := range e.Messages() {
		if m.Get("type").Str != "event" {
			n++
		}
	}
	return n
}

func TestRealCancelStopsTheServer(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(endless, one, host.Options{})
	e.Chat("c", "Tell me of streams.")
	e.Event("c", "llm_chunk")
	if n := r.busy(); n != 1 {
		t.Errorf("%d slots work", n)
	}
	e.Call("x", "cancel", map[string]any{"request_id": "c"})
	final := e.Error("c", "cancelled")
	if stop := final.Get("data.stop_ms"); stop.Type.String() != "Number" {
		t.Errorf("stop_ms is %s", stop.Raw)
	}
	if n := r.busy(); n != 0 {
		t.Errorf("%d slots work after the final frame", n)
	}
	if text := final.Get("data.response").String(); text == "" || text != e.Text("c") {
		t.Errorf("the partial response is %.100q, the chunks are %.100q", text, e.Text("c"))
	}
}

func TestRealModelIsNotHeldUpByAStalledReader(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(endless, one+"agents: [{max_tokens: 2000}]\n", host.Options{Small: true, Pace: paused})
	e.Chat("c", "Tell me of streams.")
	testkit.Until(t, "the model runs", func() bool { return r.busy() == 1 })
	testkit.Until(t, "the model has finished", func() bool { return r.busy() == 0 })
	if n := e.Taken(); n != 0 {
		t.Fatalf("%d bytes were read", n)
	}
	e.Resume()
	result := wantText(t, e, "c")
	if result.Get("usage.completion_tokens").Int() != 2000 || result.Get("events.dropped").Int() != 0 || result.Get("events.merged").Int() == 0 {
		t.Errorf("the result tells %s", result.Get("events").Raw)
	}
}

func TestRealAttach(t *testing.T) {
	t.Parallel()
	const key = "open-sesame"
	r := newReal(t)
	port, socket := freePort(t), r.path("a.sock")
	for _, address := range [][]string{{"--host", "127.0.0.1", "--port", port}, {"--host", socket}} {
		server := exec.Command(r.path("real-server"), append(address, "-m", r.path("model.gguf"), "--api-key", key, "-t", "1", "--no-warmup")...)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	}
	testkit.Until(t, "the first server listens", func() bool { _, err := get("http://127.0.0.1:"+port+"/health", "", ""); return err == nil })
	testkit.Until(t, "the second server listens", func() bool { _, err := get("http://llama/health", socket, ""); return err == nil })
	for _, url := range []string{"http://127.0.0.1:" + port, "unix://" + socket} {
		e := spawn(t, "llama_server: {url: '"+url+"', api_key: "+key+"}\n", host.Options{})
		e.Chat("c", "What is a pipe?")
		wantText(t, e, "c")
		e.CloseStdin()
		wantExit(t, e, 0)

		wrong := spawn(t, "llama_server: {url: '"+url+"', api_key: swordfish}\nlog: {level: debug}\n", host.Options{})
		wrong.Chat("c", "What is a pipe?")
		refused := wrong.Error("c", "internal_error", "api_key")
		wrong.CloseStdin()
		wantExit(t, wrong, 0)
		if strings.Contains(refused.Raw+wrong.Log(), "swordfish") {
			t.Errorf("the key is told: %s %s", refused.Raw, wrong.Log())
		}
	}
	if len(r.left()) != 2 {
		t.Errorf("these should run: %q", r.left())
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}
