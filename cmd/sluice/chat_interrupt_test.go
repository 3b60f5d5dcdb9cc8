package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

func TestChatInterruptCancels(t *testing.T) {
	stdout, _, err := talk{questions: question("hi"), script: func(f *fakeEngine) {
		f.initialize()
		a := f.next("chat")
		f.chunk(a, "half")
		f.interrupts <- os.Interrupt
		cancel := f.next("cancel")
		if cancel.Params.RequestID != a.ID || cancel.ID == a.ID {
			t.Errorf("the cancel is %+v of %s", cancel, a.ID)
		}
		f.write(`{"id":%q,"type":"result","result":{"cancelled":true,"request_id":%q}}`, cancel.ID, a.ID)
		f.write(`{"id":%q,"type":"error","code":"cancelled","message":"by request","data":{}}`, a.ID)
		f.end()
	}}.run(t)
	checkFailure(t, err, exitFailed, "cancelled: by request")
	if stdout != "half\n" {
		t.Errorf("stdout is %q", stdout)
	}
}

// TestChatInterruptsActOnAStoppedTerminal: nobody reads stdout, and the engine's answer waits.
func TestChatInterruptsActOnAStoppedTerminal(t *testing.T) {
	reader, writer := io.Pipe()
	_, _, err := talk{questions: question("hi"), stdout: writer, script: func(f *fakeEngine) {
		f.initialize()
		a := f.next("chat")
		f.chunk(a, "half")
		f.interrupts <- os.Interrupt
		f.next("cancel")
		f.interrupts <- os.Interrupt
	}}.run(t)
	checkFailure(t, err, exitFailed, "")
	reader.Close()
}

func TestChatInterruptWithoutAChatQuits(t *testing.T) {
	_, _, err := talk{questions: question("hi"), script: func(f *fakeEngine) {
		f.next("initialize")
		f.interrupts <- os.Interrupt
	}}.run(t)
	checkFailure(t, err, exitFailed, "")
}

// brokenWriter is a stdout whose reader goes after some bytes.
type brokenWriter struct {
	room int
	err  error
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, w.err
	}
	return len(p), nil
}

func TestChatBrokenStdoutCancels(t *testing.T) {
	for message, cause := range map[string]error{"": syscall.EPIPE, "disk full": errors.New("disk full")} {
		t.Run(message, func(t *testing.T) {
			_, stderr, err := talk{questions: question("hi"), stdout: &brokenWriter{4, cause}, script: func(f *fakeEngine) {
				f.initialize()
				a := f.next("chat")
				f.chunk(a, "four")
				f.chunk(a, "five")
				f.next("cancel")
				f.chunk(a, "more")
				f.write(`{"id":%q,"type":"error","code":"cancelled","message":"by request","data":{}}`, a.ID)
				f.end()
			}}.run(t)
			checkFailure(t, err, exitFailed, message)
			if stderr != "" {
				t.Errorf("stderr is %q", stderr)
			}
		})
	}
}
