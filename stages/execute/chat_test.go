package execute

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

func TestResult(t *testing.T) {
	half := 0.5
	own := []Agent{{Name: "first", Model: "ready"}, {Name: "second", Model: "ready", SystemPrompt: "be brief", MaxTokens: 9, Temperature: &half}}
	inWorld(t, Options{Agents: own}, func(w *world) {
		w.chatWith("a", &wire.ChatParams{Input: "1s", Agent: "second", SessionID: "mine"})
		w.after(time.Second)
		w.saying("0s a run_start", "0s a llm_start", "1s a llm_done", "1s a final", "1s a result")
		want := &wire.ModelRequest{Messages: []wire.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "1s"}}, MaxTokens: 9, Temperature: &half}
		if asked := w.out.chats[0].asked; !reflect.DeepEqual(asked, want) {
			t.Errorf("asked %+v", asked)
		}
		done := w.out.done("a")
		if string(done.Response) != "whole" || done.SessionID != "mine" || done.FinishReason != "stop" || done.Steps != 1 || done.Usage.CompletionTokens != 3 || len(done.Warnings) != 0 || done.Warnings == nil {
			t.Errorf("got %+v", done)
		}

		w.chatWith("b", &wire.ChatParams{Resume: true})
		if asked := w.out.chats[1].asked; !reflect.DeepEqual(asked.Messages, []wire.Message{{Role: "user"}}) {
			t.Errorf("asked %+v", asked)
		}
		other := w.out.done("b")
		hex := regexp.MustCompile(`^[0-9a-f]{8}$`)
		if !hex.MatchString(other.SessionID) || other.TraceID == "" || other.TraceID == done.TraceID || len(other.Warnings) != 1 {
			t.Errorf("got %+v", other)
		}
	})
}

func TestTimings(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.models.queue, w.models.load = 3*time.Second, 5*time.Second
		w.chat("10s", "a", "b")
		w.after(time.Minute)
		const s = time.Second
		for id, queue := range map[wire.ID]time.Duration{"a": 3 * s, "b": 18*s + 3*s} {
			// The writer takes the frame a minute after the start.
			m := w.out.done(id).Timings()
			want := wire.Timings{Queue: queue, Load: 5 * s, Upstream: 5 * s, Engine: 5 * s, TTFT: queue + 15*s, Total: 60 * s}
			want.Reader = 60*s - want.TTFT
			if m != want || m.Queue+m.Load+m.Upstream+m.Tool+m.Engine+m.Reader != m.Total {
				t.Errorf("%s: got %+v; want %+v", id, m, want)
			}
		}
	})
}

func TestDuplicateID(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1}, func(w *world) {
		w.chat("1s", "a", "b", "a", "b", "1", "1.0")
		w.saying("0s a run_start", "0s a llm_start", "0s a invalid_request", "0s b invalid_request")
		w.after(time.Minute)
		w.out.taken()
		for _, c := range w.out.chats {
			if len(c.finals) != 1 || c.finals[0].Fault != nil || c.late != 0 {
				t.Errorf("%s: %+v", c.id, c.finals)
			}
		}
		if len(w.out.chats) != 4 {
			t.Errorf("%d chats were opened", len(w.out.chats))
		}
	})
}

// TestIDIsFreeOnceTheFinalWasRead uses an id again and again, the moment its final frame is out.
func TestIDIsFreeOnceTheFinalWasRead(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.out.finals = make(chan wire.ID)
		const rounds = 200
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range rounds {
				id := <-w.out.finals
				_ = w.push(request(id, wire.MethodChat, &wire.ChatParams{}, 1))
			}
			<-w.out.finals
		}()
		w.chat("0s", "a")
		<-ended
		if refused := w.out.last("a"); refused != nil || len(w.out.chats) != rounds+1 {
			t.Errorf("got %v after %d chats", refused, len(w.out.chats))
		}
	})
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		params   wire.ChatParams
		code     wire.Code
		says     string
		response string
		events   []wire.EventKind
	}{
		"the server fails":          {wire.ChatParams{Input: "fail"}, wire.CodeInternal, "the server said 500", "half", []wire.EventKind{wire.EventRunStart, wire.EventLLMStart, wire.EventLLMDone}},
		"an unexplained error":      {wire.ChatParams{Input: "odd"}, wire.CodeInternal, "internal error", "", []wire.EventKind{wire.EventRunStart, wire.EventLLMStart, wire.EventLLMDone}},
		"the server is never ready": {wire.ChatParams{Input: "never ready"}, wire.CodeInternal, "the server went away", "", []wire.EventKind{wire.EventRunStart, wire.EventLLMStart, wire.EventLLMDone}},
		"the step panics":           {wire.ChatParams{Input: "panic"}, wire.CodeInternal, "internal error", "", []wire.EventKind{wire.EventRunStart, wire.EventLLMStart, wire.EventLLMDone}},
		"the models panic":          {wire.ChatParams{Agent: "panics"}, wire.CodeInternal, "internal error", "", []wire.EventKind{wire.EventRunStart}},
		"the model is missing":      {wire.ChatParams{Agent: "broken"}, wire.CodeModelMissing, "no such file", "", []wire.EventKind{wire.EventRunStart}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, Options{MaxParallelChats: 2}, func(w *world) {
				w.chat("1s", "beside")
				w.chatWith("a", &c.params)
				done := w.out.done("a")
				if done == nil || done.Fault == nil || done.Fault.Code != c.code || !strings.Contains(done.Fault.Message, c.says) || string(done.Response) != c.response {
					t.Fatalf("got %+v", done)
				}
				if strings.Contains(done.Fault.Message, "s3cret") {
					t.Errorf("a message tells too much: %s", done.Fault.Message)
				}
				if got := w.out.chats[1].events; !reflect.DeepEqual(got, c.events) {
					t.Errorf("events %v", got)
				}
				w.chat("1s", "next", "waits")
				w.after(time.Second)
				w.after(time.Second)
				for _, id := range []wire.ID{"beside", "next", "waits"} {
					if done := w.out.done(id); done == nil || done.Fault != nil {
						t.Errorf("%s ended with %+v", id, done)
					}
				}
				if w.models.leases != 0 {
					t.Errorf("%d slots were not given back", w.models.leases)
				}
			})
		})
	}
}

// TestServerThatIsNotReady is tried again with a new lease, and the host sees one step.
func TestServerThatIsNotReady(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.models.load = time.Second
		w.chat("ready the third time", "a")
		w.after(3 * time.Second)
		w.saying("0s a run_start", "1s a llm_start", "3s a llm_done", "3s a final", "3s a result")
		if done := w.out.done("a"); done.Steps != 1 || done.Timings().Load != 3*time.Second || w.models.leases != 0 {
			t.Errorf("got %+v, %+v, %d leases", done, done.Timings(), w.models.leases)
		}
	})
}

// TestStepThatBeganEnds although its server can't be had again.
func TestStepThatBeganEnds(t *testing.T) {
	inWorld(t, Options{Agents: []Agent{{Name: "a", Model: "once"}}}, func(w *world) {
		w.chat("ready the third time", "a")
		w.saying("0s a run_start", "0s a llm_start", "0s a llm_done", "0s a binary_missing")
	})
}

func TestUnknownAgent(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		for method, params := range map[wire.Method]any{
			wire.MethodChat: &wire.ChatParams{Agent: strings.Repeat("é", 1000)}, wire.MethodWarmup: &wire.WarmupParams{Agent: "nobody"},
		} {
			fault, ok := w.ask(method, params).(*wire.Fault)
			if !ok || fault.Code != wire.CodeInvalidRequest || !strings.HasSuffix(fault.Message, "assistant, slow, broken, panics") || len(fault.Message) > 300 {
				t.Errorf("got %v", fault)
			}
		}
	})
	inWorld(t, Options{Agents: []Agent{}}, func(w *world) {
		if fault, ok := w.ask(wire.MethodChat, &wire.ChatParams{}).(*wire.Fault); !ok || fault.Code != wire.CodeInvalidRequest || !strings.Contains(fault.Message, "no agent") {
			t.Errorf("got %v", fault)
		}
	})
}

func TestUnconfigured(t *testing.T) {
	missing := wire.NewFault(wire.CodeConfigMissing, "there is none at x.yaml")
	inWorld(t, Options{Unconfigured: missing}, func(w *world) {
		for method, params := range map[wire.Method]any{wire.MethodChat: &wire.ChatParams{}, wire.MethodWarmup: &wire.WarmupParams{}} {
			if got := w.ask(method, params); got != wire.Reply(missing) {
				t.Errorf("got %v", got)
			}
		}
		if _, ok := w.ask(wire.MethodPing, nil).(*wire.Pong); !ok {
			t.Error("no pong")
		}
	})
}

func TestStop(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 2}, func(w *world) {
		w.chat("1h", "a")
		w.chatWith("b", &wire.ChatParams{Agent: "slow"})
		w.chat("1h", "c")
		_ = w.push(request("w", wire.MethodWarmup, &wire.WarmupParams{Agent: "slow"}, 1))
		w.after(time.Second)
		w.Stop(errors.New("a signal"))
		w.Wait()
		for _, id := range []wire.ID{"a", "b", "c"} {
			if done := w.out.done(id); done == nil || done.Fault == nil || done.Fault.Code != wire.CodeCancelled || done.Stop != unseen || !strings.Contains(done.Fault.Message, "shutting down") {
				t.Errorf("%s ended with %+v", id, done)
			}
		}
		if fault, ok := w.out.last("w").(*wire.Fault); !ok || fault.Code != wire.CodeCancelled {
			t.Errorf("the warmup ended with %v", w.out.last("w"))
		}
		for method, params := range map[wire.Method]any{wire.MethodChat: &wire.ChatParams{}, wire.MethodWarmup: &wire.WarmupParams{}} {
			if fault, ok := w.ask(method, params).(*wire.Fault); !ok || fault.Code != wire.CodeCancelled {
				t.Errorf("after the end: %v", fault)
			}
		}
		if w.queue.held != 0 || w.queue.bytes != 0 {
			t.Errorf("%d requests of %d bytes are still held", w.queue.held, w.queue.bytes)
		}
	})
}
