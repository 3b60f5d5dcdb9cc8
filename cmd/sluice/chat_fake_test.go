package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
)

// lockedBuffer is a stdout or stderr that several goroutines look at.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// asked is a request as the fake engine reads it.
type asked struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Params struct {
		Input        string `json:"input"`
		Agent        string `json:"agent"`
		SessionID    string `json:"session_id"`
		UserID       string `json:"user_id"`
		Resume       bool   `json:"resume"`
		Approve      bool   `json:"approve_execution"`
		RequestID    string `json:"request_id"`
		CallID       string `json:"call_id"`
		Decision     string `json:"decision"`
		Versions     []int  `json:"protocol_versions"`
		Capabilities struct {
			Extensions []string `json:"extensions"`
		} `json:"capabilities"`
	} `json:"params"`
}

// fakeEngine is the other end of a client: a script reads requests and writes lines.
type fakeEngine struct {
	t          *testing.T
	requests   *bufio.Reader
	out        *io.PipeWriter
	interrupts chan os.Signal
}

// next returns the next request, whose method must be the given one.
func (f *fakeEngine) next(method string) asked {
	line, err := f.requests.ReadBytes('\n')
	var a asked
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil || a.Method != method {
		f.t.Errorf("the request is %q (%v), want method %s", line, err, method)
	}
	return a
}

// end waits for the end of the client's requests.
func (f *fakeEngine) end() {
	if line, err := f.requests.ReadBytes('\n'); err != io.EOF {
		f.t.Errorf("one more request came: %q (%v)", line, err)
	}
}

// write writes a line to the client.
func (f *fakeEngine) write(format string, args ...any) {
	if _, err := fmt.Fprintf(f.out, format+"\n", args...); err != nil {
		f.t.Errorf("nobody read %q: %v", format, err)
	}
}

func (f *fakeEngine) initialize() {
	a := f.next("initialize")
	if len(a.Params.Versions) != 1 || a.Params.Versions[0] != 1 || len(a.Params.Capabilities.Extensions) != 3 {
		f.t.Errorf("initialize came with %+v", a.Params)
	}
	f.write(`{"id":"initialize","type":"result","result":{"protocol_version":1}}`)
}

// event writes an event of a chat; members follow the name.
func (f *fakeEngine) event(a asked, name, members string) {
	f.write(`{"id":%q,"type":"event","event":%q,"step":0%s}`, a.ID, name, members)
}

func (f *fakeEngine) chunk(a asked, delta string) {
	text, _ := json.Marshal(delta)
	f.event(a, "llm_chunk", `,"delta":`+string(text))
}

func (f *fakeEngine) result(a asked, response string) {
	f.write(`{"id":%q,"type":"result","result":{"response":%q,"session_id":"s","warnings":[],"events":{"sent":3,"merged":0,"dropped":0}}}`, a.ID, response)
}

// talk is one run of a chatHost against a fake engine.
type talk struct {
	questions questions
	keyboard  *keyboard // whose stderr is a terminal then
	params    chatParams
	stdout    io.Writer // default: a buffer, which comes back
	setUp     func(*screen)
	end       engineEnd // how the engine ends after its script
	script    func(*fakeEngine)
}

// run returns what came on stdout and stderr, and the error of the command.
func (k talk) run(t *testing.T) (stdout, stderr string, err error) {
	t.Helper()
	var out, log lockedBuffer
	if k.stdout == nil {
		k.stdout = &out
	}
	s := streams{out: k.stdout, err: &log}
	requestsIn, requestsOut := io.Pipe()
	repliesIn, repliesOut := io.Pipe()
	fake := &fakeEngine{t: t, requests: bufio.NewReader(requestsIn), out: repliesOut, interrupts: make(chan os.Signal)}
	scripted := make(chan struct{})
	go func() {
		defer close(scripted)
		defer repliesOut.Close()
		defer requestsIn.Close()
		k.script(fake)
	}()
	screen := newScreen(s, &chatFlags{})
	if k.setUp != nil {
		k.setUp(screen)
	}
	h := chatHost{
		engine: &engine{stdin: requestsOut, stdout: repliesIn, wait: func() engineEnd {
			<-scripted
			return k.end
		}},
		questions: k.questions,
		screen:    screen,
		approvals: &approvals{keyboard: k.keyboard, console: screen.console},
		params:    k.params,
	}
	err = h.run(context.Background(), fake.interrupts)
	<-scripted
	return out.String(), log.String(), err
}
