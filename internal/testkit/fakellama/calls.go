package fakellama

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// makeCalls sends the script's tool calls as llama-server does: the first chunk of a call has its id,
// its name and the beginning of its arguments, the others have the rest. It reports whether there were
// any.
func (s *stream) makeCalls() bool {
	index := 0
	for range s.times {
		for _, c := range s.calls {
			s.makeCall(index, c)
			index++
		}
	}
	return index > 0
}

func (s *stream) makeCall(index int, c call) {
	piece, rest := cutPiece(c.arguments, s.piece)
	name, _ := json.Marshal(c.function) // a string always encodes, here and below
	first, _ := json.Marshal(piece)
	s.callDelta(fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%s,"arguments":%s}}`, index, rand.Text(), name, first))
	for rest != "" && !s.failed {
		s.pause(s.rest)
		piece, rest = cutPiece(rest, s.piece)
		next, _ := json.Marshal(piece)
		s.callDelta(fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, index, next))
	}
}

func (s *stream) callDelta(call string) { s.chunk(`{"tool_calls":[`+call+`]}`, "null") }

// cutPiece cuts about size bytes off a text, whole characters.
func cutPiece(text string, size int) (piece, rest string) {
	size = min(size, len(text))
	for size < len(text) && !utf8.RuneStart(text[size]) {
		size++
	}
	return text[:size], text[size:]
}
