package fakellama

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// stream writes one answer.
type stream struct {
	script
	writer  http.ResponseWriter
	context context.Context // ends when the client goes
	closed  <-chan struct{}
	sent    int
	failed  bool
}

// run sends the answer and reports whether all of it was sent.
func (s *stream) run() bool {
	s.writer.Header().Set("Content-Type", "text/event-stream")
	s.chunk(`{"role":"assistant","content":null}`, "null")
	for i := range s.think {
		s.delta("reasoning_content", fmt.Sprintf(" t%d", i))
	}
	for s.sent < s.tokens && !s.failed {
		if s.fault != "" && s.sent == s.at {
			return s.breakOff()
		}
		s.pause(s.rest)
		s.delta("content", s.token(s.sent))
		s.sent++
	}
	if s.fault != "" && s.sent == s.at && len(s.calls) > 0 {
		return s.breakOff()
	}
	if s.say != "" {
		s.delta("content", s.say)
	}
	finish := `"stop"`
	if s.makeCalls() {
		finish = `"tool_calls"`
	}
	s.chunk(`{}`, finish)
	s.event(fmt.Sprintf(`{"choices":[],"object":"chat.completion.chunk","usage":{"completion_tokens":%d,"prompt_tokens":7,"total_tokens":%d}}`, s.sent, s.sent+7))
	s.event("[DONE]")
	return !s.failed
}

// breakOff does what the script's fault says.
func (s *stream) breakOff() bool {
	switch s.fault {
	case "hang":
		select {
		case <-s.context.Done():
		case <-s.closed:
		}
	case "err":
		s.event(failure("steered in mid-stream", "server_error", http.StatusInternalServerError))
	}
	return false
}

func (s *stream) pause(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.context.Done():
		s.failed = true
	}
}

func (s *stream) delta(field, text string) {
	encoded, _ := json.Marshal(text) // a string always encodes
	s.chunk(fmt.Sprintf(`{%q:%s}`, field, encoded), "null")
}

func (s *stream) chunk(delta, finish string) {
	s.event(fmt.Sprintf(`{"choices":[{"finish_reason":%s,"index":0,"delta":%s}],"created":1,"id":"chatcmpl-0","model":"fake","object":"chat.completion.chunk"}`, finish, delta))
}

func (s *stream) event(data string) {
	text := "data: " + data + "\n\n"
	step := len(text)
	if s.frag {
		step = 1
	}
	flusher := s.writer.(http.Flusher)
	for ; text != "" && !s.failed; text = text[min(step, len(text)):] {
		if _, err := io.WriteString(s.writer, text[:min(step, len(text))]); err != nil {
			s.failed = true
		}
		flusher.Flush()
	}
}
