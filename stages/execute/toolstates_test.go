package execute

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"sluice/internal/wire"
)

// TestStateOfAChatWithTools tells when tools are connected, run or wait for an approval.
func TestStateOfAChatWithTools(t *testing.T) {
	tools := &fakeTools{connect: 5 * time.Second}
	inWorld(t, withTools(tools), func(w *world) {
		w.ask(wire.MethodInitialize, &wire.InitializeParams{Extensions: []string{"approval"}})
		w.chat("call s__10s s__ask", "a")
		w.inStates(map[wire.ID]string{"a": "tools"})
		w.after(6 * time.Second)
		w.inStates(map[wire.ID]string{"a": "tools"})
		w.approving("a", "call1", wire.DecisionOnce, true)
		w.after(5 * time.Second)
		w.inStates(map[wire.ID]string{"a": "tools"})
		w.after(5 * time.Second)
		if timings := w.out.done("a").Timings(); timings.Tool != 15*time.Second || timings.Queue+timings.Load != 0 {
			t.Errorf("its timings are %+v", timings)
		}
	})
}

// TestStateBehindTools is that of the model again.
func TestStateBehindTools(t *testing.T) {
	tools := &fakeTools{connect: 5 * time.Second}
	inWorld(t, withTools(tools), func(w *world) {
		w.chat("1h", "a")
		w.after(6 * time.Second)
		w.inStates(map[wire.ID]string{"a": "running"})
	})
}

// TestConnectingToolsHoldsNobodyUp: the others don't wait for them, and the model's server starts
// beside them.
func TestConnectingToolsHoldsNobodyUp(t *testing.T) {
	options := withTools(&fakeTools{connect: time.Minute})
	options.Agents = append(slices.Clone(toolbox), Agent{Name: "bare", Model: "bare"})
	inWorld(t, options, func(w *world) {
		w.models.load = 10 * time.Second
		w.chat("1s", "a")
		w.chatWith("b", &wire.ChatParams{Agent: "bare", Input: "1s"})
		w.after(11 * time.Second)
		if w.out.done("b") == nil || !slices.Equal(w.models.arrivals(), []string{"ready", "bare"}) {
			t.Errorf("they came in the order %q", w.models.arrivals())
		}
		w.out.taken()
		w.after(2 * time.Minute)
		w.saying("1m10s a llm_start", "1m11s a llm_done", "1m11s a final", "1m11s a result")
	})
}

// TestWarmupListsTools of its agent, beside the start of the server, and waits for them.
func TestWarmupListsTools(t *testing.T) {
	tools := &fakeTools{connect: 5 * time.Second}
	inWorld(t, withTools(tools), func(w *world) {
		w.models.load = 2 * time.Second
		_ = w.push(request("w", wire.MethodWarmup, &wire.WarmupParams{}, 1))
		w.after(time.Minute)
		w.saying("5s w WarmupDone")
		if done := w.out.last("w").(*wire.WarmupDone); done.Load != 2*time.Second || !reflect.DeepEqual(tools.listed, [][]string{{"s/*"}}) || tools.waited != 0 {
			t.Errorf("%+v; listed %q", done, tools.listed)
		}
	})
}

// TestPanicsBesideARequest end nothing else: neither those of the tools in a warm-up nor those of the
// server that starts while tools are connected.
func TestPanicsBesideARequest(t *testing.T) {
	inWorld(t, withTools(&fakeTools{panics: true}), func(w *world) {
		_ = w.push(request("w", wire.MethodWarmup, &wire.WarmupParams{}, 1))
		w.saying("0s w WarmupDone")
		w.chat("0s", "a")
		w.saying("0s a run_start", "0s a internal_error")
	})
	inWorld(t, withTools(&fakeTools{connect: time.Second}), func(w *world) {
		w.chatWith("a", &wire.ChatParams{Agent: "panics"})
		w.after(time.Second)
		w.saying("0s a run_start", "1s a internal_error")
		w.places(16, 0)
	})
}
