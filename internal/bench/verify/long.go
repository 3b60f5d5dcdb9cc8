package verify

import (
	"bytes"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/tokens"
)

// keepLine sets a long line aside for Report. Its kind is told by its first members, which both
// protocols put before the text that makes it long.
func (s *Stream) keepLine(line []byte, at int64) bool {
	start := line[:min(len(line), 256)]
	if gjson.GetBytes(start, "id").Raw != s.options.ID {
		return false
	}
	switch {
	case gjson.GetBytes(start, "type").Str != "event":
		s.finish(line, at)
	case gjson.GetBytes(start, "event").Str == "llm_chunk":
		if !gjson.ValidBytes(line) {
			s.fault("not JSON: %.120q", line)
			return true
		}
		s.takeEvent(line, gjson.ParseBytes(line), at)
	default:
		s.kept = append(s.kept, bytes.Clone(line))
	}
	return true
}

// Report checks what was set aside and returns the account of the stream. It is called once.
func (s *Stream) Report() *Report {
	if s.report.Tokens > s.options.Tokens {
		s.fault("%d tokens arrived, %d were sent", s.report.Tokens, s.options.Tokens)
	}
	s.report.Cut = s.options.Cut
	if !s.options.Cut {
		s.report.Lost += max(0, s.options.Tokens-s.next)
	}
	for _, line := range s.kept {
		s.checkResponse(line, "response")
	}
	if s.options.Format == NDJSON && s.report.Final != "" {
		s.checkFinal()
	}
	return &s.report
}

func (s *Stream) checkFinal() {
	line := []byte(s.report.Final)
	if gjson.GetBytes(line[:min(len(line), 256)], "type").Str == "error" {
		s.fault("the chat ended in an error: %.300s", line)
		return
	}
	s.checkResponse(line, "result.response")
}

// checkResponse compares the whole text that a line repeats with the tokens that were sent.
func (s *Stream) checkResponse(line []byte, path string) {
	if !gjson.ValidBytes(line) {
		s.fault("not JSON: %.120q", line)
		return
	}
	response := gjson.GetBytes(line, path)
	if s.options.Filled || !response.Exists() {
		return
	}
	text := []byte(response.Str)
	if len(text) != s.options.Tokens*s.width {
		s.fault("a response of %d bytes, %d were sent: %.120q", len(text), s.options.Tokens*s.width, line)
		return
	}
	for expected := 0; len(text) > 0; text = text[s.width:] {
		if sequence, ok := tokens.Sequence(text); !ok || sequence != expected {
			s.fault("a response with %.24q where token %d was sent", text, expected)
			return
		}
		expected++
	}
}
