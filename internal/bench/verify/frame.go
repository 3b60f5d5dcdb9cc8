package verify

import (
	"bytes"

	"github.com/tidwall/gjson"
)

var (
	dataField = []byte("data: ")
	doneData  = []byte("[DONE]")
)

// slowFrame takes a line of llama-server's stream. HTTP headers, chunk sizes and blank lines around
// the frames are no part of it.
func (s *Stream) slowFrame(line []byte, at int64) bool {
	data, isData := bytes.CutPrefix(line, dataField)
	if !isData {
		return false
	}
	if bytes.Equal(data, doneData) {
		s.finish(line, at)
		return true
	}
	if !gjson.ValidBytes(data) {
		s.fault("not JSON: %.120q", data)
		return true
	}
	content := gjson.GetBytes(data, "choices.0.delta.content")
	if content.Type != gjson.String {
		return true
	}
	if !s.areTokens([]byte(content.Str)) {
		s.fault("a delta that was never sent: %.120q", line)
		return true
	}
	start := bytes.Index(line, []byte(content.Raw))
	s.head = append(s.head[:0], line[:start+1]...)
	s.tail = append(s.tail[:0], line[start+len(content.Raw)-1:]...)
	s.takeChunk([]byte(content.Str), at)
	return true
}
