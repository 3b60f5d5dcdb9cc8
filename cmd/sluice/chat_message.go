package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"sluice/internal/wire"
)

// chatParams are the params of the method chat that a person can set.
type chatParams struct {
	Input     string `json:"input"`
	Agent     string `json:"agent,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	Resume    bool   `json:"resume,omitempty"`
	Approve   bool   `json:"approve_execution,omitempty"`
}

// initializeParams ask for version 1 of the protocol and all that it can show a person.
var initializeParams = json.RawMessage(`{"protocol_versions":[1],"capabilities":{"extensions":["reasoning","progress","approval"]}}`)

// approveParams answer a tool_approval.
type approveParams struct {
	RequestID json.RawMessage `json:"request_id"`
	CallID    string          `json:"call_id"`
	Decision  wire.Decision   `json:"decision"`
}

// request is a line to the engine.
type request struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Params any    `json:"params"`
}

// line returns the request as it is sent. The strings in it are valid UTF-8.
func (r request) line() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// codeCancelled is the code of a chat that was cancelled.
const codeCancelled = string(wire.CodeCancelled)

// message is a line of the engine: an event, a result or an error.
type message struct {
	ID      json.RawMessage `json:"id"`
	Type    string          `json:"type"`
	Event   string          `json:"event"`
	Delta   string          `json:"delta"`
	Result  *chatResult     `json:"result"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Data    *chatResult     `json:"data"` // of a chat that ended in an error: what it had

	// Of the events of tools.
	Tool         string          `json:"tool"`
	Args         json.RawMessage `json:"args"`
	CallID       string          `json:"call_id"`
	Status       string          `json:"status"`
	Preview      string          `json:"preview"`
	Milliseconds int64           `json:"ms"`
	// Of loop_abort.
	Reason string `json:"reason"`
	// Of progress.
	Stage    string   `json:"stage"`
	Fraction *float64 `json:"fraction"`
	Detail   string   `json:"detail"`
}

// ends reports whether the message is the final frame of the request: an error without an id is too,
// since the engine couldn't read whose it is, and there is only one.
func (m *message) ends(id string) bool {
	if m.Type == "error" && string(m.ID) == "null" {
		return true
	}
	return m.Type != "event" && string(m.ID) == `"`+id+`"`
}

// fault returns the error that the message is, or nil.
func (m *message) fault() error {
	if m.Type != "error" {
		return nil
	}
	return &chatFault{m.Code, m.Message}
}

// chatFault is an error that the engine answered with; it goes on serving.
type chatFault struct{ code, message string }

func (f *chatFault) Error() string { return stripped(f.code + ": " + f.message) }

// chatResult is how a chat ended, as far as a person wants to know.
type chatResult struct {
	Accepted *bool    `json:"accepted"` // of approve alone
	Response string   `json:"response"`
	Warnings []string `json:"warnings"`
	Usage    *struct {
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
	Timings *struct {
		FirstToken int64 `json:"ttft_ms"`
		Total      int64 `json:"total_ms"`
		Reader     int64 `json:"reader_ms"`
	} `json:"timings"`
	Events struct {
		Merged  int64 `json:"merged"`
		Dropped int64 `json:"dropped"`
	} `json:"events"`
}

// figures returns the line that --verbose prints.
func (r *chatResult) figures() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if r.Usage != nil {
		add("%d tokens", r.Usage.CompletionTokens)
	}
	if r.Timings != nil {
		add("first after %d ms", r.Timings.FirstToken)
	}
	if rate := r.rate(); rate > 0 {
		add("%.1f tokens/s", rate)
	}
	add("%d merged", r.Events.Merged)
	add("%d dropped", r.Events.Dropped)
	return strings.Join(parts, ", ")
}

// rate is how many tokens a second followed the first one, 0 when that can't be told.
func (r *chatResult) rate() float64 {
	if r.Usage == nil || r.Timings == nil {
		return 0
	}
	spent := r.Timings.Total - r.Timings.FirstToken - r.Timings.Reader
	if spent <= 0 || r.Usage.CompletionTokens < 2 {
		return 0
	}
	return float64(r.Usage.CompletionTokens-1) * 1000 / float64(spent)
}
