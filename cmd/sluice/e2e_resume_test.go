//go:build unix

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// noteCall and holdCall are calls of the tool server as the fake model makes them.
const (
	noteCall = `call=t__note args={"text":"a"} `
	holdCall = `call=t__hold args={"text":"b"} `
)

// newToolWorld is a shared folder with a tool server, which is named t.
func newToolWorld(t *testing.T, more string) (*shared, *toolServer) {
	t.Helper()
	tools := newToolServer(t)
	return newShared(t, "memory: {enabled: false}\n"+toolAgent(`"t/*"`)+"mcp_servers:\n"+tools.config("t", "", more)), tools
}

// resume sends a chat that resumes a session's last turn.
func resume(e *host.Engine, id, input string, more map[string]any) {
	params := chatOf(input, map[string]any{"user_id": "u", "session_id": "s", "resume": true})
	for name, value := range more {
		params[name] = value
	}
	e.Send(id, "chat", params)
}

// killed kills an engine as nothing can prepare for.
func killed(t *testing.T, e *host.Engine) {
	t.Helper()
	e.Signal(syscall.SIGKILL)
	wantExit(t, e, -1)
}

// ready chats until the tools are there.
func ready(t *testing.T, e *host.Engine) *host.Engine {
	t.Helper()
	awaitTools(t, e)
	return e
}

func wantWarnings(t *testing.T, result host.Message, words ...string) {
	t.Helper()
	warnings := result.Get("warnings").Array()
	if len(warnings) != len(words) {
		t.Errorf("the warnings are %s, want %d", warnings, len(words))
		return
	}
	for i, word := range words {
		if !strings.Contains(warnings[i].Str, word) {
			t.Errorf("warning %d is %q, which doesn't say %q", i, warnings[i].Str, word)
		}
	}
}

func TestResumeAfterAKill(t *testing.T) {
	const unknown = "interrupted, outcome unknown"
	tests := map[string]struct {
		input string
		// when waits for the moment of the kill, in which these calls have been made.
		when  func(*host.Engine)
		calls []string
		// more are parameters of the chat that resumes; names are its events, after the calls.
		more     map[string]any
		names    string
		results  []string
		warnings []string
		after    []string
	}{
		"in mid-stream": {
			input: "n=9 hang=3",
			when:  func(e *host.Engine) { e.Event("c", "llm_chunk") },
			names: "[run_start llm_start llm_chunk llm_done final]",
		},
		"in mid-stream of the second step": {
			input:   noteCall + "n=9 hang=3 on=1",
			when:    func(e *host.Engine) { waitStep(e, "c", "llm_chunk", 1) },
			calls:   []string{"note a"},
			names:   "[run_start llm_start llm_chunk llm_done final]",
			results: []string{"noted a"},
			after:   []string{"note a"},
		},
		"before the second step": {
			input:   noteCall + "again=2 hang=0 on=1",
			when:    func(e *host.Engine) { waitStep(e, "c", "llm_start", 1) },
			calls:   []string{"note a"},
			names:   "[run_start llm_start llm_done tool_start tool_done llm_start llm_chunk llm_done final]",
			results: []string{"noted a", "noted a"},
			after:   []string{"note a", "note a"},
		},
		"while a tool runs": {
			input:    noteCall + holdCall,
			when:     func(e *host.Engine) { e.Event("c", "tool_done") },
			calls:    []string{"hold b", "note a"},
			names:    "[run_start llm_start llm_chunk llm_done final]",
			results:  []string{"noted a", unknown},
			warnings: []string{"t/hold was interrupted"},
			after:    []string{"hold b", "note a"},
		},
		"with an input beside": {
			input:    "n=9 hang=3",
			when:     func(e *host.Engine) { e.Event("c", "llm_chunk") },
			more:     map[string]any{"input": "n=1 something else"},
			names:    "[run_start llm_start llm_chunk llm_done final]",
			warnings: []string{"input was ignored"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tools := newToolWorld(t, "")
			e := ready(t, s.start(host.Options{}))
			say(e, "c", "u", "s", test.input)
			test.when(e)
			tools.wantCalls(test.calls...)
			killed(t, e)
			s.Heal()
			e = ready(t, s.start(host.Options{}))
			resume(e, "r", "", test.more)
			result := e.Result("r")
			if got := e.Event("r", "run_start").Get("user_input").Str; got != test.input {
				t.Errorf("it starts with %q", got)
			}
			if got := e.Names("r"); got != test.names {
				t.Errorf("the events are %s", got)
			}
			if got, want := result.Get("response").Str, fakellama.Text(test.input); got != want {
				t.Errorf("the response is %q, want %q", got, want)
			}
			wantWarnings(t, result, test.warnings...)
			tools.wantCalls(test.after...)
			wantResults(t, s, test.results)
			if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "done" || turns[0].Get("response").Str != result.Get("response").Str {
				t.Errorf("stored are %s", turns)
			}
		})
	}
}

func waitStep(e *host.Engine, id, event string, step int64) {
	e.Wait(event+" of a step", func(m host.Message) bool {
		return m.Get("id").Str == id && m.Get("event").Str == event && m.Get("step").Int() == step
	})
}

// wantResults holds the results of tools in the newest request to what is wanted.
func wantResults(t *testing.T, s *shared, want []string) {
	t.Helper()
	answers := s.WaitAnswers(1)
	var got []string
	for _, m := range answers[len(answers)-1].Messages() {
		if m.Role == "tool" {
			got = append(got, m.Content)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the results in the request are %q, want %q", got, want)
	}
}

// A call that waited for its approval had not begun, so it is made after all, once.
func TestResumeMakesWhatHadNotBegun(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "requires_approval: true")
	e := ready(t, s.start(host.Options{}))
	askForApprovals(e)
	say(e, "c", "u", "s", noteCall)
	e.Event("c", "tool_approval")
	killed(t, e)
	e = ready(t, s.start(host.Options{}))
	resume(e, "r", "", map[string]any{"approve_execution": true})
	wantWarnings(t, e.Result("r"))
	if got := e.Names("r"); got != "[run_start tool_start tool_done llm_start llm_chunk llm_done final]" {
		t.Errorf("the events are %s", got)
	}
	tools.wantCalls("note a")
	wantResults(t, s, []string{"noted a"})
}

// askForApprovals makes the host one that can be asked.
func askForApprovals(e *host.Engine) {
	e.Call("initialize", "initialize", map[string]any{"protocol_versions": []int{1}, "capabilities": map[string]any{"extensions": []string{"approval"}}})
}

func TestResumeOfACancelledTurn(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "")
	e := ready(t, s.start(host.Options{}))
	say(e, "c", "u", "s", noteCall+"n=9 hang=3 on=1")
	waitStep(e, "c", "llm_chunk", 1)
	e.Call("x", "cancel", map[string]any{"request_id": "c"})
	e.Error("c", "cancelled")
	s.Heal()
	resume(e, "r", "", nil)
	if got := e.Result("r").Get("response").Str; got != fakellama.Text("n=9") {
		t.Errorf("the response is %q", got)
	}
	tools.wantCalls("note a")
	wantResults(t, s, []string{"noted a"})
}

func TestResumeOfNothing(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	for i, before := range []string{"", "user:n=2 again|assistant: w0 w1|"} { // an empty session, and one whose turn is done
		id := numbered("r", i)
		resume(e, id, "n=2 again", nil)
		wantWarnings(t, wantWhole(t, e, id, fakellama.Text("n=2")), "nothing to resume")
		if got := conversation(s.newest(i + 1)); got != before+"user:n=2 again|" {
			t.Errorf("the model was sent %q", got)
		}
	}
}
