package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestChatShowsTools: a call and its result are a line each on stderr, below the text before them.
func TestChatShowsTools(t *testing.T) {
	tests := []struct {
		name           string
		setUp          func(*screen)
		lines          func(f *fakeEngine, a asked)
		stdout, stderr string
	}{
		{"one", nil, func(f *fakeEngine, a asked) {
			f.chunk(a, "Let me see.")
			f.event(a, "tool_start", `,"tool":"fs/read","args":{"path":"a"}`)
			f.event(a, "tool_done", `,"tool":"fs/read","status":"ok","preview":"one two","retryable":false,"ms":12`)
			f.chunk(a, "Two words.")
			f.result(a, "Two words.")
		}, "Let me see.\nTwo words.\n", "→ fs/read {\"path\":\"a\"}\n← ok, 12 ms: one two\n"},
		{"several side by side", nil, func(f *fakeEngine, a asked) {
			f.event(a, "tool_start", `,"tool":"a/b","args":{}`)
			f.event(a, "tool_start", `,"tool":"c/d","args":{}`)
			f.event(a, "tool_done", `,"tool":"a/b","status":"error","preview":"no","ms":1`)
			f.event(a, "tool_done", `,"tool":"c/d","status":"timeout","preview":"","ms":60000`)
			f.event(a, "tool_start", `,"tool":"a/b","args":{}`)
			f.event(a, "tool_done", `,"tool":"a/b","status":"ok","preview":"","ms":0`)
			f.result(a, "done")
		}, "done\n", "→ a/b {}\n→ c/d {}\n← a/b error, 1 ms: no\n← c/d timeout, 60000 ms\n→ a/b {}\n← ok, 0 ms\n"},
		{"dimmed", func(s *screen) { s.console.dimmed = true }, func(f *fakeEngine, a asked) {
			f.event(a, "tool_start", `,"tool":"a/b","args":{}`)
			f.result(a, "done")
		}, "done\n", "\x1b[2m→ a/b {}\x1b[0m\n"},
		{"without control codes and in short", nil, func(f *fakeEngine, a asked) {
			f.event(a, "tool_start", `,"tool":"a\u001b[2J/b","args":{"text":"`+strings.Repeat("é", 300)+`"}`)
			f.event(a, "tool_done", `,"status":"ok","preview":"one\ntwo\u001b]0;x\u0007\tthree","ms":1`)
			f.result(a, "done")
		}, "done\n", "→ a/b {\"text\":\"" + strings.Repeat("é", 191) + "… (and 111 more characters)\n← ok, 1 ms: one two three\n"},
		{"an abort and why", nil, func(f *fakeEngine, a asked) {
			f.chunk(a, "half")
			f.event(a, "loop_abort", `,"reason":"max_steps"`)
			f.write(`{"id":%q,"type":"result","result":{"response":"half","finish_reason":"aborted","warnings":["ended after 8 steps"]}}`, a.ID)
		}, "half\n", "the turn was aborted: max_steps\nsluice: warning: ended after 8 steps\n"},
		{"warnings of a chat that failed", nil, func(f *fakeEngine, a asked) {
			f.write(`{"id":%q,"type":"result","result":{"response":"r","warnings":["low"]}}`, a.ID)
		}, "r\n", "sluice: warning: low\n"},
		{"progress, memory and events to come, where no terminal is", nil, func(f *fakeEngine, a asked) {
			f.event(a, "memory_start", "")
			f.event(a, "progress", `,"stage":"prompt","fraction":0.25,"detail":"1 of 4 tokens"`)
			f.event(a, "news", `,"fraction":null`)
			f.result(a, "r")
		}, "r\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, err := talk{questions: question("hi"), setUp: test.setUp, script: func(f *fakeEngine) {
				f.initialize()
				a := f.next("chat")
				test.lines(f, a)
				f.end()
			}}.run(t)
			if stdout != test.stdout || stderr != test.stderr || err != nil {
				t.Errorf("stdout %q, stderr %q, error %v", stdout, stderr, err)
			}
		})
	}
}

func TestProgressLabel(t *testing.T) {
	quarter := 0.254
	for want, m := range map[string]message{
		"loading the model...":                                        {Stage: "model_load"},
		"reading the question: 1 of 4 tokens, 25 %...":                {Stage: "prompt", Fraction: &quarter, Detail: "1 of 4 tokens"},
		"waiting, 25 %...":                                            {Stage: "new\x1b[1m", Fraction: &quarter},
		"running a tool: a b" + strings.Repeat("é", 36) + "…" + "...": {Stage: "tool", Detail: "a\n\x1b[2Jb" + strings.Repeat("é", 100)},
	} {
		if got := progressLabel(&m); got != want {
			t.Errorf("%+v is told as %q, want %q", m, got, want)
		}
	}
}

// TestScreenProgress: what is waited for is a line that comes and goes, and never behind text.
func TestScreenProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer // one terminal for both
		s := &screen{out: &out, console: &console{out: &out, animated: true}}
		show := func(m message) {
			m.Type = "event"
			if err := s.show(nil, &m); err != nil {
				t.Error(err)
			}
			pass(time.Second)
		}
		s.begin()
		show(message{Event: "progress", Stage: "model_load", Detail: "m"})
		checkScreen(t, &out, `\ loading the model: m... 1 s`)
		show(message{Event: "llm_chunk", Delta: "One"})
		show(message{Event: "progress", Stage: "tool"})
		checkScreen(t, &out, "One")
		if err := s.end(&message{Type: "result", Result: &chatResult{}}); err != nil {
			t.Error(err)
		}
		checkScreen(t, &out, "One", "")
	})
}
