package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// Message is one line of the engine.
type Message = gjson.Result

// Send sends one request; a nil params is left out.
func (e *Engine) Send(id, method string, params any) {
	e.t.Helper()
	e.Raw(Request(id, method, params))
}

// Request returns the line of a request.
func Request(id, method string, params any) string {
	var line strings.Builder
	fields := map[string]any{"id": id, "method": method}
	if params != nil {
		fields["params"] = params
	}
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(fields) // strings, numbers and maps of them always encode
	return line.String()
}

// Chat sends a chat with the given input.
func (e *Engine) Chat(id, input string) {
	e.t.Helper()
	e.Send(id, "chat", map[string]any{"input": input})
}

// Call sends a request and waits for its final frame.
func (e *Engine) Call(id, method string, params any) Message {
	e.t.Helper()
	e.Send(id, method, params)
	return e.Reply(id)
}

// Reply waits for the final frame of a request.
func (e *Engine) Reply(id string) Message {
	e.t.Helper()
	return e.Wait("the reply to "+id, func(m Message) bool { return isFinal(m) && m.Get("id").String() == id })
}

// Result waits for the final frame of a request, which must be a result, and returns that.
func (e *Engine) Result(id string) Message {
	e.t.Helper()
	reply := e.Reply(id)
	if reply.Get("type").Str != "result" {
		e.t.Fatalf("%s got %.2000s", id, reply.Raw)
	}
	return reply.Get("result")
}

// Error waits for the final frame of a request, which must be an error of this code whose message has
// all of these words, and returns the frame.
func (e *Engine) Error(id, code string, words ...string) Message {
	e.t.Helper()
	reply := e.Reply(id)
	if reply.Get("type").Str != "error" || reply.Get("code").Str != code {
		e.t.Fatalf("%s got %.2000s, not the error %s", id, reply.Raw, code)
	}
	for _, word := range words {
		if !strings.Contains(reply.Get("message").Str, word) {
			e.t.Errorf("the message of %s does not say %q: %.2000s", id, word, reply.Raw)
		}
	}
	return reply
}

// Event waits for an event of a request by its name.
func (e *Engine) Event(id, name string) Message {
	e.t.Helper()
	return e.Wait(name+" of "+id, func(m Message) bool { return m.Get("event").Str == name && m.Get("id").String() == id })
}

// Wait waits for a message that is wanted, among those that were read already too.
func (e *Engine) Wait(what string, wanted func(Message) bool) Message {
	e.t.Helper()
	var expired atomic.Bool
	timer := time.AfterFunc(limit, func() { expired.Store(true); e.out.Allow(0) })
	defer timer.Stop()
	next, found := 0, false
	err := e.out.Wait(func(text []byte) bool {
		e.take(text)
		for ; next < len(e.messages) && !found; next++ {
			found = wanted(e.messages[next])
		}
		return found || expired.Load()
	})
	if !found {
		e.t.Fatalf("no %s (%v) among %d messages; stderr: %.3000s", what, err, len(e.messages), e.Stderr())
	}
	return e.messages[next-1]
}

// take checks the whole lines that came and keeps them.
func (e *Engine) take(text []byte) {
	for {
		end := bytes.IndexByte(text[e.checked:], '\n')
		if end < 0 {
			return
		}
		line := text[e.checked : e.checked+end]
		e.checked += end + 1
		if err := checkLine(line); err != nil {
			e.t.Error(err)
			continue
		}
		m := gjson.ParseBytes(line)
		if err := e.finals.check(m); err != nil && !e.reused {
			e.t.Error(err)
		}
		e.messages = append(e.messages, m)
	}
}

// finishReading takes all that is left of stdout after the engine's end. A line that was begun and not
// finished is a fault unless output was given up, which exit status 0 excludes.
func (e *Engine) finishReading() {
	e.t.Helper()
	text, _ := e.out.All()
	e.take(text)
	if e.cmd.ProcessState.ExitCode() == 0 && e.checked < len(text) {
		e.t.Errorf("the last line has no end: %.200q", text[e.checked:])
	}
}

// Messages are all messages that were read so far.
func (e *Engine) Messages() []Message {
	e.take(e.out.Bytes())
	return e.messages
}

// Events are the events of a request that were read so far, in order.
func (e *Engine) Events(id string) (events []Message) {
	for _, m := range e.Messages() {
		if m.Get("type").Str == "event" && m.Get("id").String() == id {
			events = append(events, m)
		}
	}
	return events
}

// Text is the concatenation of a request's deltas so far.
func (e *Engine) Text(id string) string {
	var text strings.Builder
	for _, m := range e.Events(id) {
		if m.Get("event").Str == "llm_chunk" {
			_, _ = io.WriteString(&text, m.Get("delta").String())
		}
	}
	return text.String()
}

// Names are the names of a request's events, runs of one name told once.
func (e *Engine) Names(id string) string {
	var names []string
	for _, m := range e.Events(id) {
		if name := m.Get("event").Str; len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return fmt.Sprint(names)
}
