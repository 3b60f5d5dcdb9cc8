package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// screenLines is what a terminal shows of text that moves by newline and carriage return alone.
func screenLines(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		var cells []byte
		for _, part := range strings.Split(line, "\r") {
			cells = append([]byte(part), cells[min(len(part), len(cells)):]...)
		}
		lines = append(lines, string(bytes.TrimRight(cells, " ")))
	}
	return lines
}

// checkScreen fails the test unless the lines are on the screen, the last one where the cursor is.
func checkScreen(t *testing.T, out *lockedBuffer, want ...string) {
	t.Helper()
	got := screenLines(out.String())
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestConsoleStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		c := &console{out: &out, animated: true}
		c.status("starting...")
		pass(statusDelay - time.Millisecond)
		checkScreen(t, &out, "")
		pass(time.Millisecond)
		checkScreen(t, &out, "/ starting... 0 s")
		pass(2 * time.Second)
		checkScreen(t, &out, "/ starting... 2 s")
		c.status("done?")
		pass(statusInterval)
		checkScreen(t, &out, "- done? 2 s")
		c.println("a line")
		checkScreen(t, &out, "a line", "")
		pass(statusInterval)
		checkScreen(t, &out, "a line", `\ done? 2 s`)
		c.clear()
		checkScreen(t, &out, "a line", "")
		pass(time.Second)
		checkScreen(t, &out, "a line", "")
		c.status("again")
		pass(statusDelay)
		checkScreen(t, &out, "a line", "| again 0 s")
		c.clear()
		c.endEcho()
		checkScreen(t, &out, "a line", "", "")
	})
}

func TestConsoleThatIsNoTerminalShowsLinesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		c := newConsole(&out)
		c.status("starting...")
		pass(time.Minute)
		c.println("a line")
		c.endEcho()
		if out.String() != "a line\n" {
			t.Errorf("stderr is %q", out.String())
		}
	})
}

// TestScreenStatus: what is waited for is told until the first text, and never behind text.
func TestScreenStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer // one terminal for both
		s := &screen{out: &out, console: &console{out: &out, animated: true}}
		event := func(name, delta string) {
			if err := s.show(nil, &message{Type: "event", Event: name, Delta: delta}); err != nil {
				t.Error(err)
			}
			pass(time.Second)
		}
		s.begin()
		event("run_start", "")
		checkScreen(t, &out, `\ starting the model... 1 s`)
		event("llm_start", "")
		checkScreen(t, &out, `\ reading the question... 2 s`)
		event("llm_reasoning", "hm")
		checkScreen(t, &out, `\ thinking... 3 s`)
		event("llm_chunk", "One")
		checkScreen(t, &out, "One")
		event("llm_start", "")
		checkScreen(t, &out, "One")
		event("llm_chunk", "\n")
		event("tool_start", "")
		checkScreen(t, &out, "One", "→", "- running a tool... 1 s")
		if err := s.end(&message{Type: "result", Result: &chatResult{Response: "One\n"}}); err != nil {
			t.Error(err)
		}
		checkScreen(t, &out, "One", "→", "")
	})
}

// TestScreenEndsTheLineOfCtrlC: what follows a cancel starts a line, wherever the terminal showed ^C.
func TestScreenEndsTheLineOfCtrlC(t *testing.T) {
	for delta, want := range map[string][]string{"": {"^C", ""}, "text": {"text^C", ""}, "text\n": {"text", "^C", ""}} {
		var out lockedBuffer
		s := &screen{out: &out, console: &console{out: &out, animated: true}}
		if err := s.showText(delta); err != nil {
			t.Error(err)
		}
		_, _ = out.Write([]byte("^C"))
		if err := s.end(&message{Type: "error", Code: codeCancelled}); err != nil {
			t.Error(err)
		}
		checkScreen(t, &out, want...)
	}
}
