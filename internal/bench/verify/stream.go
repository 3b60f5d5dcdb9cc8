// Package verify checks what a program wrote against what the load server sent.
//
// A Stream is fed by one goroutine, the reader of the program's output; only Done and Report may be
// used by others, Report after Done is closed or the reader has ended. The common line costs about
// as much as finding its end: its head and tail are compared with those of a line that was parsed
// in full before, and only the tokens between are looked at. Every other line is parsed. Lines that
// hold a whole answer are kept and checked by Report, outside of the measured time.
package verify

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/tokens"
)

const (
	keptLineBytes = 32 << 10 // longer lines are checked by Report
	keptProblems  = 5        // told in full, the others are counted
)

// Stream checks the lines of one answer.
type Stream struct {
	options    Options
	width      int
	head, tail []byte       // of the last chunk line that was parsed in full
	next       int          // sequence number of the token that is due
	text       maphash.Hash // of free text
	kept       [][]byte
	report     Report
	done       chan struct{}
}

// NewStream returns a Stream that expects the given answer from its first token on.
func NewStream(options Options) *Stream {
	return &Stream{options: options, width: options.tokenWidth(), done: make(chan struct{})}
}

// Done is closed when the final line has arrived.
func (s *Stream) Done() <-chan struct{} { return s.done }

// ReadLines takes whole lines, each with its line end, that were received at the given time. The
// block belongs to the caller again when ReadLines returns.
func (s *Stream) ReadLines(block []byte, at int64) {
	before, wasFinal := s.report.Tokens, s.report.Final != ""
	s.readLines(block, at)
	if !wasFinal && s.report.Final != "" {
		close(s.done) // not before the block is accounted for
	}
	if s.options.Received != nil {
		s.options.Received.Add(int64(s.report.Tokens - before))
	}
}

func (s *Stream) readLines(block []byte, at int64) {
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n') + 1
		if end == 0 {
			s.fault("a line without its end: %.80q", block)
			return
		}
		line := block[:end-1]
		block = block[end:]
		if !s.fastLine(line, at) && !s.slowLine(line, at) {
			continue
		}
		s.report.Lines++
		s.report.Bytes += end
	}
}

// fastLine takes a line that differs from an earlier one only in its tokens.
func (s *Stream) fastLine(line []byte, at int64) bool {
	if len(s.head) == 0 || len(line) < len(s.head)+len(s.tail) ||
		!bytes.HasPrefix(line, s.head) || !bytes.HasSuffix(line, s.tail) {
		return false
	}
	text := line[len(s.head) : len(line)-len(s.tail)]
	if !s.areTokens(text) {
		return false
	}
	s.takeChunk(text, at)
	return true
}

// areTokens reports whether text is a row of whole tokens, and so needs no unescaping.
func (s *Stream) areTokens(text []byte) bool {
	if len(text) == 0 || len(text)%s.width != 0 {
		return false
	}
	for ; len(text) > 0; text = text[s.width:] {
		if _, ok := tokens.Sequence(text); !ok {
			return false
		}
		if s.options.Timed {
			if _, ok := tokens.SentAt(text); !ok {
				return false
			}
		}
	}
	return true
}

// takeChunk counts the tokens of a delta that areTokens accepted.
func (s *Stream) takeChunk(text []byte, at int64) {
	if s.report.FirstAt == 0 {
		s.report.FirstAt = at
	}
	s.report.Chunks++
	for ; len(text) > 0; text = text[s.width:] {
		sequence, _ := tokens.Sequence(text)
		if sequence < s.next {
			s.report.Repeated++
			s.fault("token %d after token %d", sequence, s.next-1)
			continue
		}
		s.report.Lost += sequence - s.next
		s.report.Tokens++
		s.next = sequence + 1
		if s.options.Timed && s.options.Latency != nil {
			sentAt, _ := tokens.SentAt(text)
			s.options.Latency.Record(at - sentAt)
		}
	}
}

// slowLine parses a line in full. It reports false for lines that aren't the stream's.
func (s *Stream) slowLine(line []byte, at int64) bool {
	if s.options.Format == SSE {
		return s.slowFrame(line, at)
	}
	if len(line) > keptLineBytes {
		return s.keepLine(line, at)
	}
	if !gjson.ValidBytes(line) {
		s.fault("not JSON: %.120q", line)
		return true
	}
	return s.takeLine(line, at)
}

func (s *Stream) takeLine(line []byte, at int64) bool {
	document := gjson.ParseBytes(line)
	if document.Get("id").Raw != s.options.ID {
		return false
	}
	switch document.Get("type").Str {
	case "event":
		s.takeEvent(line, document, at)
	case "result", "error":
		s.finish(line, at)
	default:
		s.fault("a line of unknown type: %.120q", line)
	}
	return true
}

func (s *Stream) takeEvent(line []byte, document gjson.Result, at int64) {
	if s.report.Final != "" {
		s.fault("an event after the final line: %.120q", line)
	}
	if document.Get("event").Str != "llm_chunk" {
		return
	}
	delta := document.Get("delta")
	if s.options.FreeText {
		s.takeText(delta, line, at)
		return
	}
	if delta.Type != gjson.String || !s.areTokens([]byte(delta.Str)) {
		s.fault("a delta that was never sent: %.120q", line)
		return
	}
	if raw := delta.Raw; raw[1:len(raw)-1] == delta.Str {
		s.head = append(s.head[:0], line[:delta.Index+1]...)
		s.tail = append(s.tail[:0], line[delta.Index+len(raw)-1:]...)
	}
	s.takeChunk([]byte(delta.Str), at)
}

func (s *Stream) finish(line []byte, at int64) {
	if s.report.Final != "" {
		s.fault("a second final line: %.120q", line)
		return
	}
	s.report.Final = string(line)
	s.report.FinalAt = at
}

func (s *Stream) fault(format string, args ...any) {
	s.report.Faults++
	if len(s.report.Problems) < keptProblems {
		s.report.Problems = append(s.report.Problems, fmt.Sprintf(format, args...))
	}
}
