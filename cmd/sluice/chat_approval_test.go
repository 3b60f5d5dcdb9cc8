package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/testkit"
)

// approval writes a tool_approval, and its call's start before.
func (f *fakeEngine) approval(a asked, callID, tool string) {
	f.event(a, "tool_start", `,"tool":"`+tool+`","args":{},"call_id":"`+callID+`"`)
	f.event(a, "tool_approval", `,"call_id":"`+callID+`","tool":"`+tool+`","args":{"path":"a\u001b[1m"},"expires_ms":1000`)
}

// decided reads an approve, which must be of the chat and the call, and replies.
func (f *fakeEngine) decided(a asked, callID, decision string, accepted string) {
	f.t.Helper()
	got := f.next("approve")
	if got.Params.RequestID != a.ID || got.Params.CallID != callID || got.Params.Decision != decision {
		f.t.Errorf("approve came with %+v, want call %s and decision %s", got.Params, callID, decision)
	}
	f.write(`{"id":%q,"type":"result","result":{"accepted":%s}}`, got.ID, accepted)
}

func (f *fakeEngine) toolDone(a asked, callID, status string) {
	f.event(a, "tool_done", `,"tool":"x","status":"`+status+`","preview":"p","retryable":false,"ms":1,"call_id":"`+callID+`"`)
}

// keys is a keyboard that a script types on.
func keys() (*keyboard, *io.PipeWriter) {
	read, write := io.Pipe()
	return newKeyboard(read), write
}

func typeOn(t *testing.T, w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

func TestApprovalIsAsked(t *testing.T) {
	for typed, decision := range map[string]string{
		"y\n": "once", " YES \r\n": "once", "s\n": "session", "Session\n": "session",
		"\n": "deny", "n\n": "deny", "yes please\n": "deny", "y\x00\n": "deny",
	} {
		t.Run(decision+" "+typed, func(t *testing.T) {
			k, person := keys()
			stdout, stderr, err := talk{questions: question("hi"), keyboard: k, script: func(f *fakeEngine) {
				f.initialize()
				a := f.next("chat")
				f.approval(a, "c1", "fs/write")
				typeOn(t, person, typed)
				f.decided(a, "c1", decision, "true")
				f.toolDone(a, "c1", "ok")
				f.result(a, "done")
				f.end()
			}}.run(t)
			want := "→ fs/write {}\nsluice: may fs/write run with {\"path\":\"a\\u001b[1m\"}?\n  y = yes, s = yes, for the rest of the session, N = no: ← ok, 1 ms: p\n"
			if stdout != "done\n" || stderr != want || err != nil {
				t.Errorf("stdout %q, stderr %q, error %v", stdout, stderr, err)
			}
		})
	}
}

// TestApprovalsAreAskedInTurn, though the engine asks for all at once.
func TestApprovalsAreAskedInTurn(t *testing.T) {
	k, person := keys()
	_, stderr, err := talk{questions: question("hi"), keyboard: k, script: func(f *fakeEngine) {
		f.initialize()
		a := f.next("chat")
		for _, call := range []string{"c1", "c2", "c3"} {
			f.approval(a, call, call+"/t")
		}
		typeOn(t, person, "y\n")
		f.decided(a, "c1", "once", "true")
		typeOn(t, person, "n\n")
		f.decided(a, "c2", "deny", "true")
		_ = person.Close() // the end of input is no yes
		f.decided(a, "c3", "deny", "false")
		f.result(a, "done")
		f.end()
	}}.run(t)
	if n := strings.Count(stderr, "sluice: may "); n != 3 || err != nil || !strings.Contains(stderr, "came too late") {
		t.Errorf("%d questions: stderr %q, error %v", n, stderr, err)
	}
}

// TestApprovalsWithoutAPerson are denied at once, many of them too, however the lines are printed.
func TestApprovalsWithoutAPerson(t *testing.T) {
	const calls = 3 * pendingRequests
	for _, raw := range []bool{false, true} {
		_, stderr, err := talk{questions: question("hi"), setUp: func(s *screen) { s.raw = raw }, script: func(f *fakeEngine) {
			f.initialize()
			a := f.next("chat")
			go func() {
				for range calls {
					f.approval(a, "c", "fs/write")
				}
			}()
			for range calls {
				f.decidedInSilence(a)
			}
			f.result(a, "done")
			f.end()
		}}.run(t)
		if n := strings.Count(stderr, "sluice: fs/write is denied: nobody can be asked here; --yes approves every call\n"); n != calls || err != nil {
			t.Errorf("raw %v: told %d times, error %v", raw, n, err)
		}
	}
}

// decidedInSilence reads a denial and leaves the reply to others.
func (f *fakeEngine) decidedInSilence(a asked) {
	if got := f.next("approve"); got.Params.RequestID != a.ID || got.Params.Decision != "deny" {
		f.t.Errorf("approve came with %+v", got.Params)
	}
}

// TestAnApprovalThatExpires: the engine has decided, the next line is the next question's.
func TestAnApprovalThatExpires(t *testing.T) {
	k, person := keys()
	typed := newPrompt(k, streams{err: io.Discard})
	_, stderr, err := talk{questions: typed, keyboard: k, script: func(f *fakeEngine) {
		f.initialize()
		typeOn(t, person, "one\n")
		a := f.next("chat")
		f.approval(a, "c1", "a/b")
		f.approval(a, "c2", "c/d")
		f.toolDone(a, "c1", "denied")
		f.toolDone(a, "c2", "denied")
		f.result(a, "done")
		typeOn(t, person, "two\n")
		if b := f.next("chat"); b.Params.Input != "two" {
			t.Errorf("the second question is %q", b.Params.Input)
		}
		f.write(`{"id":"chat-2","type":"result","result":{"response":"done"}}`)
		_ = person.Close()
		f.end()
	}}.run(t)
	// Above the result stands no question any more that it has settled, and the next one below.
	if n := strings.Count(stderr, "N = no: "); n != 4 || !strings.HasSuffix(stderr, "N = no: \n← x denied, 1 ms: p\n") || err != nil {
		t.Errorf("%d questions: stderr %q, error %v", n, stderr, err)
	}
}

// TestAnInterruptActsWhileAsked: the chat is cancelled though nobody answers.
func TestAnInterruptActsWhileAsked(t *testing.T) {
	k, person := keys()
	defer person.Close()
	_, stderr, err := talk{questions: question("hi"), keyboard: k, script: func(f *fakeEngine) {
		f.initialize()
		a := f.next("chat")
		f.approval(a, "c1", "a/b")
		f.interrupts <- os.Interrupt
		f.next("cancel")
		f.write(`{"id":%q,"type":"error","code":"cancelled","message":"by request","data":{}}`, a.ID)
		f.end()
	}}.run(t)
	checkFailure(t, err, exitFailed, "cancelled: by request")
	if !strings.HasSuffix(stderr, "N = no: \n") {
		t.Errorf("stderr is %q", stderr)
	}
}

// TestAResumedTurnNeedsNoText, and the next question is asked as ever.
func TestAResumedTurnNeedsNoText(t *testing.T) {
	k, person := keys()
	go func() {
		typeOn(t, person, "two\n")
		_ = person.Close()
	}()
	typed, err := newQuestions(nil, k, streams{err: io.Discard}, true)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = talk{questions: typed, params: chatParams{Resume: true, SessionID: "s"}, script: func(f *fakeEngine) {
		f.initialize()
		for i, want := range []string{"", "two"} {
			a := f.next("chat")
			if a.Params.Input != want || a.Params.Resume != (i == 0) || a.Params.SessionID != "s" {
				t.Errorf("chat %d came with %+v", i, a.Params)
			}
			f.result(a, "done")
		}
		f.end()
	}}.run(t)
	if err != nil {
		t.Error(err)
	}
}

// TestConsoleQuestion: lines come above what is asked, and no status beside it.
func TestConsoleQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		c := &console{out: &out, animated: true}
		c.status("waiting...")
		pass(statusDelay)
		c.ask("yes? ")
		pass(2 * statusInterval)
		checkScreen(t, &out, "yes?")
		c.println("a line")
		checkScreen(t, &out, "yes?", "a line", "yes?")
		_, _ = out.Write([]byte("y\n"))
		c.answered(true)
		checkScreen(t, &out, "yes?", "a line", "yes? y", "")
		pass(statusInterval)
		checkScreen(t, &out, "yes?", "a line", "yes? y", "- waiting... 0 s")
		c.clear()
		c.ask("yes? ")
		c.answered(false)
		checkScreen(t, &out, "yes?", "a line", "yes? y", "yes?", "")
	})
}

// TestTypedBeforeTheQuestion is no answer to it.
func TestTypedBeforeTheQuestion(t *testing.T) {
	k := newKeyboard(strings.NewReader("y\nn\n"))
	forgotten := 0
	k.forget = func() { forgotten++ }
	early := k.ask()
	testkit.Until(t, "a line was typed", func() bool { return len(early) == 1 })
	k.discard() // the line that was read, and what the terminal has
	k.discard() // what was read behind it
	if l := <-k.ask(); l.text != "" || l.err == nil || forgotten != 2 {
		t.Errorf("got %q, %v; the terminal forgot %d times", l.text, l.err, forgotten)
	}
}
