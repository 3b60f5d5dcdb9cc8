package verify

import (
	"bytes"
	"fmt"

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

// Report checks what was set aside and returns the account of a stream of which so many tokens were
// sent, or FreeTextTokens. It is called once.
func (s *Stream) Report(sent int) *Report {
	if !s.options.FreeText && s.report.Tokens > sent {
		s.fault("%d tokens arrived, %d were sent", s.report.Tokens, sent)
	}
	s.report.cut, s.report.lossy = s.options.Cut, s.options.Lossy
	if !s.options.Cut {
		s.report.Lost += max(0, sent-s.next)
	}
	for _, line := range s.kept {
		s.checkResponse(line, "response", sent)
	}
	if s.options.Format == NDJSON && s.report.Final != "" {
		s.checkFinal(sent)
	}
	return &s.report
}

// Failed returns an error when the final line is one. It is called after Done is closed.
func (s *Stream) Failed() error {
	line := []byte(s.report.Final)
	if s.options.Format == NDJSON && gjson.GetBytes(line[:min(len(line), 256)], "type").Str == "error" {
		return fmt.Errorf("the chat ended in an error: %.300s", line)
	}
	return nil
}

func (s *Stream) checkFinal(sent int) {
	line := []byte(s.report.Final)
	if err := s.Failed(); err != nil {
		s.fault("%v", err)
		return
	}
	s.checkResponse(line, "result.response", sent)
}

// checkResponse compares the whole text that a line repeats with the tokens that were sent.
func (s *Stream) checkResponse(line []byte, path string, sent int) {
	if !gjson.ValidBytes(line) {
		s.fault("not JSON: %.120q", line)
		return
	}
	response := gjson.GetBytes(line, path)
	if s.options.Filled || !response.Exists() {
		return
	}
	if s.options.FreeText {
		s.checkText(response.Str, line)
		return
	}
	text := []byte(response.Str)
	if len(text) != sent*s.width {
		s.fault("a response of %d bytes, %d were sent: %.120q", len(text), sent*s.width, line)
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
