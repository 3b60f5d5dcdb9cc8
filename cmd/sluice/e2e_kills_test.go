//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// Every turn whose result the host has read is stored, whenever the engine is killed.
func TestKillsLoseNoResult(t *testing.T) {
	t.Parallel()
	const kills, chats = 50, 8
	s := newShared(t, "")
	known := map[string]string{} // the responses by trace
	for kill := range kills {
		e := s.start(host.Options{})
		for i := range chats {
			say(e, fmt.Sprintf("k%d-c%d", kill, i), "u", numbered("s", i%4), fmt.Sprintf("n=%d rest=1ms", 1+rand.IntN(12)))
		}
		left := rand.IntN(6 * chats)
		e.Wait("so many messages", func(m host.Message) bool { left--; return left < 0 })
		killed(t, e)
		for _, m := range e.Messages() {
			if m.Get("type").Str == "result" {
				known[m.Get("result.trace_id").Str] = m.Get("result.response").Str
			}
		}
	}
	for i := range 4 {
		for _, turn := range s.turns("u", numbered("s", i)) {
			trace := turn.Get("trace_id").Str
			if response, ok := known[trace]; ok && (turn.Get("status").Str != "done" || turn.Get("response").Str != response) {
				t.Errorf("stored is %s", turn.Raw)
			}
			delete(known, trace)
		}
	}
	if len(known) > 0 {
		t.Errorf("results are lost: %v", known)
	}
	e := s.start(host.Options{})
	say(e, "last", "u", "s0", "n=1")
	wantWarnings(t, wantWhole(t, e, "last", fakellama.Text("n=1")))
}

// A turn that is killed and resumed again and again makes none of its calls twice: each has its result,
// or is told to be interrupted.
func TestKillsRepeatNoCall(t *testing.T) {
	t.Parallel()
	const steps, callsOfStep = 3, 3
	s, tools := newToolWorld(t, "")
	input := fmt.Sprintf("%s calls=%d again=%d n=30 rest=1ms", noteCall, callsOfStep, steps)
	first := ready(t, s.start(host.Options{}))
	say(first, "c", "u", "s", input)
	first.Event("c", "llm_start") // then it is stored
	killed(t, first)
	unknown := 0
	for round := 0; ; round++ {
		e := ready(t, s.start(host.Options{}))
		id := numbered("r", round)
		resume(e, id, "", nil)
		left := rand.IntN(4 + 4*round) // the later, the more likely to the end
		e.Wait("so many messages", func(m host.Message) bool {
			if m.Get("id").Str != id {
				return false
			}
			left--
			return left < 0 || m.Get("type").Str == "result"
		})
		killed(t, e)
		if final := lastOf(e, id); final.Get("type").Str == "result" {
			if got := final.Get("result.response").Str; got != fakellama.Text(input) {
				t.Errorf("the response is %q", got)
			}
			break
		}
	}
	turns := s.turns("u", "s")
	if len(turns) != 1 || turns[0].Get("status").Str != "done" {
		t.Fatalf("stored are %s", turns)
	}
	results := turns[0].Get("steps.#.calls.#.result.text|@flatten").Array()
	for _, result := range results {
		if strings.Contains(result.Str, "outcome unknown") {
			unknown++
		} else if result.Str != "noted a" {
			t.Errorf("a call has the result %q", result.Str)
		}
	}
	made := len(tools.calls())
	t.Logf("%d calls, of which %d were interrupted; %d were made", len(results), unknown, made)
	if all := steps * callsOfStep; len(results) != all || made > all || made < all-unknown {
		t.Errorf("of %d calls %d have a result, %d of them unknown; %d were made", all, len(results), unknown, made)
	}
}

// lastOf is the newest message of a request.
func lastOf(e *host.Engine, id string) (last host.Message) {
	for _, m := range e.Messages() {
		if m.Get("id").Str == id {
			last = m
		}
	}
	return last
}

// However an engine is ended, the next one goes on with what it had begun, and makes no call again.
func TestResumeAfterAnyEnd(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tools := newToolWorld(t, "")
			e := ready(t, s.start(host.Options{}))
			say(e, "c", "u", "s", noteCall+"again=2 n=9 hang=3 on=1")
			waitStep(e, "c", "llm_chunk", 1)
			c.end(t, e)
			wantExit(t, e, c.status)
			s.Heal()
			e = ready(t, s.start(host.Options{}))
			resume(e, "r", "", nil)
			wantWarnings(t, e.Result("r"))
			tools.wantCalls("note a", "note a")
			wantResults(t, s, []string{"noted a", "noted a"})
			if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "done" || len(turns[0].Get("steps").Array()) != 2 {
				t.Errorf("stored are %s", turns)
			}
		})
	}
}

// A call that was cancelled while it ran isn't made again either.
func TestResumeOfACancelledCall(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "")
	e := ready(t, s.start(host.Options{}))
	say(e, "c", "u", "s", holdCall)
	tools.wantCalls("hold b")
	e.Call("x", "cancel", map[string]any{"request_id": "c"})
	e.Error("c", "cancelled")
	wantStatus(t, e, "c", "cancelled")
	resume(e, "r", "", nil)
	wantWarnings(t, e.Result("r"))
	tools.wantCalls("hold b")
	wantResults(t, s, []string{"the tool call was cancelled"})
}

// An engine that was suspended for so long that another one took its session over says so, and leaves
// what that one stored alone.
func TestSessionOfASuspendedEngine(t *testing.T) {
	t.Parallel()
	s := newShared(t, "memory: {enabled: false}\n")
	suspended := s.start(host.Options{})
	say(suspended, "c", "u", "s", "n=9 hang=3")
	suspended.Event("c", "llm_chunk")
	suspended.Signal(syscall.SIGSTOP)
	e := s.start(host.Options{})
	s.Heal()
	resume(e, "r", "", nil)
	waitState(t, e, "r", "session")
	if got := e.Result("r").Get("response").Str; got != fakellama.Text("n=9") {
		t.Errorf("the response is %q", got)
	}
	suspended.Signal(syscall.SIGCONT)
	testkit.Until(t, "the suspended engine is back", func() bool {
		return suspended.Call(numbered("ping", len(suspended.Messages())), "ping", nil).Get("result.status").Str == "ok"
	})
	suspended.Call("x", "cancel", map[string]any{"request_id": "c"})
	suspended.Error("c", "cancelled")
	if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "done" || turns[0].Get("response").Str != fakellama.Text("n=9") {
		t.Errorf("stored are %s", turns)
	}
}
