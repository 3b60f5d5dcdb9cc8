//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// paused is a host that doesn't read before it is told to.
var paused = testkit.Pace{Paused: true}

// channels are the kinds of stdout that hosts give.
var channels = map[string]host.Options{
	"pipe":                {Pace: paused, Small: true},
	"socket pair":         {Pace: paused, Small: true, Sockets: true},
	"nonblocking pipe":    {Pace: paused, Small: true, Nonblocking: true},
	"nonblocking sockets": {Pace: paused, Sockets: true, Nonblocking: true},
}

func TestStalledReaderNeverStallsTheModel(t *testing.T) {
	for name, o := range channels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, server := attached(t, "", o)
			e.Chat("c", "n=50000")
			if a := server.WaitAnswers(1)[0]; !a.Whole || a.Sent != 50000 {
				t.Fatalf("the model was held up: %+v", a)
			}
			if rss := residentMiB(t, e.PID()); rss > 100 {
				t.Errorf("%d MiB are used", rss)
			}
			e.Resume()
			result := wantWhole(t, e, "c", fakellama.Text("n=50000"))
			if n := result.Get("events.merged").Int(); n < 25000 {
				t.Errorf("%d chunks were merged", n)
			}
			e.CloseStdin()
			wantExit(t, e, 0)
		})
	}
}

func TestThrottledReaderGetsTheWholeText(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "output: {merge_bytes: 1KiB}\n", host.Options{Small: true, Pace: testkit.Pace{Chunk: 512, Delay: time.Millisecond}})
	for _, id := range []string{"a", "b", "c"} {
		e.Chat(id, "n=3000")
	}
	e.CloseStdin()
	for _, id := range []string{"a", "b", "c"} {
		wantWhole(t, e, id, fakellama.Text("n=3000"))
		for _, m := range e.Events(id) {
			if n := len(m.Get("delta").Str); n > 1<<10 {
				t.Errorf("a delta of %d bytes", n)
			}
		}
	}
	wantExit(t, e, 0)
}

func TestCancelActsWhileNobodyReads(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "", host.Options{Small: true, Pace: paused})
	for i := range 500 {
		e.Send(numbered("p", i), "ping", nil)
	}
	e.Chat("c", "n=1000000 rest=2ms")
	server.WaitBusy(1)
	e.Send("x", "cancel", map[string]any{"request_id": "c"})
	if a := server.WaitAnswers(1)[0]; a.Whole {
		t.Error("the answer was not cancelled")
	}
	e.Resume()
	for i := range 500 {
		e.Result(numbered("p", i))
	}
	if !e.Result("x").Get("cancelled").Bool() {
		t.Error("the cancel was not told")
	}
	final := e.Error("c", "cancelled")
	if stop := final.Get("data.stop_ms"); stop.Type.String() != "Number" {
		t.Errorf("stop_ms is %s", stop.Raw)
	}
	if final.Get("data.response").String() != e.Text("c") {
		t.Error("the partial response differs from the chunks")
	}
}

// A reader that never reads stops the intake, not the engine.
func TestUnreadRepliesStopTheIntake(t *testing.T) {
	t.Parallel()
	const requests, size = 200, 64 << 10
	e, _ := attached(t, "output: {guaranteed_bytes: 1MiB}\n", host.Options{Pace: paused})
	var input strings.Builder
	for i := range requests {
		input.WriteString(host.Request(numbered(strings.Repeat("i", size), i), "ping", nil))
	}
	text := input.String()
	taken, err := e.Offer(text, 2*time.Second)
	if !errors.Is(err, os.ErrDeadlineExceeded) || taken > len(text)/2 {
		t.Fatalf("%d of %d bytes were taken, %v", taken, len(text), err)
	}
	if rss := residentMiB(t, e.PID()); rss > 64 {
		t.Errorf("%d MiB are used", rss)
	}
	e.Resume()
	e.Raw(text[taken:])
	e.CloseStdin()
	wantExit(t, e, 0)
	if n := len(e.Messages()); n != requests {
		t.Errorf("%d replies to %d requests", n, requests)
	}
}

func TestDropPolicyKeepsResults(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "output: {on_full: drop, queue_frames: 64}\n", host.Options{Small: true, Pace: paused})
	for i := range 4 {
		e.Chat(numbered("c", i), "n=5000")
	}
	for _, a := range server.WaitAnswers(4) {
		if !a.Whole {
			t.Error("the model was held up")
		}
	}
	e.Resume()
	for i := range 4 {
		id := numbered("c", i)
		result := e.Result(id)
		if result.Get("response").String() != fakellama.Text("n=5000") {
			t.Errorf("%s: the response is not whole", id)
		}
		sent, dropped := result.Get("events.sent").Int(), result.Get("events.dropped").Int()
		if dropped == 0 || sent != int64(len(e.Events(id))) || !strings.Contains(result.Get("warnings").Raw, "drop") {
			t.Errorf("%s: %d events came; events are %s, warnings %s", id, len(e.Events(id)), result.Get("events").Raw, result.Get("warnings").Raw)
		}
	}
}

// Where the promise about text ends: more than pending_bytes wait unread. The response is whole even so.
func TestTextIsDroppedBeyondPendingBytes(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "output: {pending_bytes: 128KiB}\n", host.Options{Small: true, Pace: paused})
	e.Send("i", "initialize", map[string]any{"capabilities": map[string]any{"extensions": []string{"offsets"}}})
	e.Chat("c", "n=50000")
	if a := server.WaitAnswers(1)[0]; !a.Whole {
		t.Fatalf("the model was held up: %+v", a)
	}
	e.Resume()
	result, want := e.Result("c"), fakellama.Text("n=50000")
	if got := result.Get("response").String(); got != want {
		t.Errorf("the response has %d bytes of %d", len(got), len(want))
	}
	if result.Get("events.dropped").Int() == 0 || !strings.Contains(result.Get("warnings").Raw, "drop") {
		t.Errorf("events %s, warnings %s", result.Get("events").Raw, result.Get("warnings").Raw)
	}
	for _, m := range e.Events("c") {
		if at := m.Get("offset"); at.Exists() && !strings.HasPrefix(want[at.Int():], m.Get("delta").String()) {
			t.Fatalf("the text at %d is another", at.Int())
		}
	}
}
