package verify

import (
	"hash/maphash"

	"github.com/tidwall/gjson"
)

// takeText counts a delta of free text and keeps what the whole text is recognised by.
func (s *Stream) takeText(delta gjson.Result, line []byte, at int64) {
	if delta.Type != gjson.String {
		s.fault("a chunk without a delta: %.120q", line)
		return
	}
	if s.report.FirstAt == 0 {
		s.report.FirstAt = at
	}
	s.report.Chunks++
	s.report.Tokens++
	s.text.WriteString(delta.Str)
}

// checkText compares the whole text that a line repeats with the deltas before it.
func (s *Stream) checkText(response string, line []byte) {
	if !s.options.Lossy && maphash.String(s.text.Seed(), response) != s.text.Sum64() {
		s.fault("a response that the deltas don't add up to: %.120q", line)
	}
}
