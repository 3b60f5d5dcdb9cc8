package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// checkFailure fails the test unless err is a failure with this status and message.
func checkFailure(t *testing.T, err error, status int, message string) {
	t.Helper()
	var failed *failure
	if !errors.As(err, &failed) || failed.status != status || failed.message != message {
		t.Errorf("the error is %#v, want status %d and message %q", err, status, message)
	}
}

func question(text string) questions { return &single{text: text} }

func TestChatPrintsDeltasAsTheyCome(t *testing.T) {
	var out lockedBuffer
	synctest.Test(t, func(t *testing.T) {
		_, stderr, err := talk{questions: question("hi"), stdout: &out, params: chatParams{Agent: "a", SessionID: "s", UserID: "u", Resume: true, Approve: true},
			script: func(f *fakeEngine) {
				f.initialize()
				a := f.next("chat")
				p := a.Params
				if p.Input != "hi" || p.Agent != "a" || p.SessionID != "s" || p.UserID != "u" || !p.Resume || !p.Approve {
					t.Errorf("the params are %+v", p)
				}
				f.event(a, "run_start", "")
				for _, step := range []struct{ delta, want string }{
					{"One", "One"}, {" two \x1b[3", "One two "}, {"1mthree\x1b]0;x\a", "One two three"}, {strings.Repeat("merged ", 5000), "One two three" + strings.Repeat("merged ", 5000)},
				} {
					f.chunk(a, step.delta)
					synctest.Wait()
					if out.String() != step.want {
						t.Errorf("after %.20q stdout is %.80q", step.delta, out.String())
					}
				}
				f.result(a, "whatever")
				f.end()
			}}.run(t)
		if err != nil || stderr != "" {
			t.Errorf("error %v, stderr %q", err, stderr)
		}
		if !strings.HasSuffix(out.String(), "merged \n") {
			t.Errorf("stdout ends in %q", out.String()[out.text.Len()-20:])
		}
	})
}

// TestChatShows checks what a person sees of one chat's lines behind run_start.
func TestChatShows(t *testing.T) {
	thoughts := func(s *screen) { s.thoughts = true }
	tests := []struct {
		name           string
		setUp          func(*screen)
		lines          func(f *fakeEngine, a asked)
		stdout, stderr string
	}{
		{"text with a newline", nil, func(f *fakeEngine, a asked) {
			f.chunk(a, "text\n")
			f.result(a, "text\n")
		}, "text\n", ""},
		{"a response that no event brought", nil, func(f *fakeEngine, a asked) { f.result(a, "whole") }, "whole\n", ""},
		{"nothing", nil, func(f *fakeEngine, a asked) { f.result(a, "") }, "", ""},
		{"no reasoning where it can't be told apart", nil, func(f *fakeEngine, a asked) {
			f.event(a, "llm_reasoning", `,"delta":"hm"`)
			f.chunk(a, "text")
			f.result(a, "text")
		}, "text\n", ""},
		{"reasoning", thoughts, func(f *fakeEngine, a asked) {
			f.event(a, "llm_reasoning", `,"delta":"h\u001b[1m"`)
			f.event(a, "llm_reasoning", `,"delta":"m"`)
			f.chunk(a, "text")
			f.result(a, "text")
		}, "hm\n\ntext\n", ""},
		{"dimmed reasoning", func(s *screen) { s.thoughts, s.dimmed = true, true }, func(f *fakeEngine, a asked) {
			f.event(a, "llm_reasoning", `,"delta":"hm"`)
			f.event(a, "llm_reasoning", `,"delta":"\u001b[1m"`)
			f.chunk(a, "text")
			f.result(a, "text")
		}, "\x1b[2mhm\x1b[0m\n\ntext\n", ""},
		{"a warning", nil, func(f *fakeEngine, a asked) {
			f.chunk(a, "text")
			f.write(`{"id":%q,"type":"result","result":{"response":"text","warnings":["low \u001b[1mmemory"]}}`, a.ID)
		}, "text\n", "sluice: warning: low memory\n"},
		{"figures", func(s *screen) { s.verbose = true }, func(f *fakeEngine, a asked) {
			f.chunk(a, "text")
			f.write(`{"id":%q,"type":"result","result":{"response":"text","usage":{"completion_tokens":11},"timings":{"ttft_ms":100,"total_ms":700,"reader_ms":100},"events":{"merged":2,"dropped":1}}}`, a.ID)
		}, "text\n", "11 tokens, first after 100 ms, 20.0 tokens/s, 2 merged, 1 dropped\n"},
		{"figures, as far as there are any", func(s *screen) { s.verbose = true }, func(f *fakeEngine, a asked) { f.result(a, "text") },
			"text\n", "0 merged, 0 dropped\n"},
		{"events and members it doesn't know", nil, func(f *fakeEngine, a asked) {
			f.event(a, "memory_start", `,"new":{"a":[1]}`)
			f.write(`{"id":"cancel-x","type":"result","result":{"cancelled":false,"request_id":null}}`)
			f.result(a, "text")
		}, "text\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, err := talk{questions: question("hi"), setUp: test.setUp, script: func(f *fakeEngine) {
				f.initialize()
				a := f.next("chat")
				f.event(a, "run_start", "")
				test.lines(f, a)
				f.end()
			}}.run(t)
			if stdout != test.stdout || stderr != test.stderr || err != nil {
				t.Errorf("stdout %q, stderr %q, error %v", stdout, stderr, err)
			}
		})
	}
}

func TestChatJSONPrintsTheLinesAsTheyAre(t *testing.T) {
	const odd = `{"id" : "chat-1","type":"event","event":"llm_chunk","delta":"\u001b[31m",  "new":1.0}`
	stdout, _, err := talk{questions: question("hi"), setUp: func(s *screen) { s.raw = true }, script: func(f *fakeEngine) {
		f.initialize()
		a := f.next("chat")
		f.write("%s", odd)
		f.result(a, "r")
		f.end()
		f.write(`{"id":"late","type":"result","result":{}}`)
	}}.run(t)
	lines := strings.Split(stdout, "\n")
	if err != nil || len(lines) != 5 || lines[1] != odd || !strings.Contains(lines[3], "late") || lines[4] != "" {
		t.Errorf("error %v, stdout %q", err, stdout)
	}
}

func TestChatFaults(t *testing.T) {
	for name, line := range map[string]string{
		"of the chat": `{"id":"chat-1","type":"error","code":"model_missing","message":"no \u001b[1mmodel","data":{"response":"par","events":{}}}`,
		"without id":  `{"id":null,"type":"error","code":"model_missing","message":"no model"}`,
	} {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := talk{questions: question("hi"), script: func(f *fakeEngine) {
				f.initialize()
				f.chunk(f.next("chat"), "par")
				f.write("%s", line)
				f.end()
			}}.run(t)
			checkFailure(t, err, exitFailed, "model_missing: no model")
			if stdout != "par\n" {
				t.Errorf("stdout is %q", stdout)
			}
		})
	}
	t.Run("of initialize", func(t *testing.T) {
		_, _, err := talk{questions: question("hi"), script: func(f *fakeEngine) {
			f.next("initialize")
			f.write(`{"id":"initialize","type":"error","code":"invalid_request","message":"version"}`)
			f.end()
		}}.run(t)
		checkFailure(t, err, exitFailed, "invalid_request: version")
	})
	t.Run("no protocol", func(t *testing.T) {
		_, _, err := talk{questions: question("hi"), script: func(f *fakeEngine) {
			f.next("initialize")
			f.write(`hello`)
			f.end()
		}}.run(t)
		checkFailure(t, err, exitFailed, "the engine wrote a line that is none of the protocol's")
	})
}

func TestChatEngineEnds(t *testing.T) {
	tests := []struct {
		name    string
		end     engineEnd
		status  int
		message string
	}{
		{"killed", engineEnd{-1, "signal: killed", []string{"one", "two"}}, exitFailed, "the engine ended unexpectedly (signal: killed); its last lines:\n  one\n  two"},
		{"in silence", engineEnd{1, "exit status 1", nil}, exitFailed, "the engine ended unexpectedly (exit status 1)"},
		{"done", engineEnd{0, "exit status 0", nil}, exitFailed, "the engine ended unexpectedly (exit status 0)"},
		{"configuration", engineEnd{2, "exit status 2", []string{"noise", "sluice: c.yaml:1: foo"}}, exitUsage, "c.yaml:1: foo"},
		{"configuration in silence", engineEnd{2, "exit status 2", nil}, exitUsage, "the engine refused its configuration"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stdout, _, err := talk{questions: question("hi"), end: test.end, script: func(f *fakeEngine) {
				f.initialize()
				f.chunk(f.next("chat"), "half a")
			}}.run(t)
			checkFailure(t, err, test.status, test.message)
			if stdout != "half a\n" {
				t.Errorf("stdout is %q", stdout)
			}
		})
	}
	t.Run("failed after the answer", func(t *testing.T) {
		_, _, err := talk{questions: question("hi"), end: engineEnd{1, "exit status 1", []string{"output was given up"}}, script: func(f *fakeEngine) {
			f.initialize()
			f.result(f.next("chat"), "text")
			f.end()
		}}.run(t)
		checkFailure(t, err, exitFailed, "the engine ended unexpectedly (exit status 1); its last lines:\n  output was given up")
	})
}
