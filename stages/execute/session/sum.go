package session

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	"sluice/internal/wire"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is a CRC-32C over a row's fields, each with its length before it.
type sum struct {
	crc    uint32
	buffer [1024]byte // what is copied through: a string's bytes can't be had without a copy
}

func (s *sum) text(text string) {
	s.number(int64(len(text)))
	for len(text) > 0 {
		n := copy(s.buffer[:], text)
		s.crc = crc32.Update(s.crc, castagnoli, s.buffer[:n])
		text = text[n:]
	}
}

func (s *sum) number(n int64) {
	binary.LittleEndian.PutUint64(s.buffer[:8], uint64(n))
	s.crc = crc32.Update(s.crc, castagnoli, s.buffer[:8])
}

func sumOf(numbers []int64, texts ...string) int64 {
	var s sum
	for _, n := range numbers {
		s.number(n)
	}
	for _, text := range texts {
		s.text(text)
	}
	return int64(s.crc)
}

// A turn's sums don't contain its id, which is not known before it is stored.

func beginSum(k key, t *wire.Turn) int64 {
	return sumOf([]int64{t.Started.UnixMilli()}, k.user, k.session, t.TraceID, t.Agent, t.Input)
}

func endSum(t *wire.Turn) int64 { return sumOf(nil, string(t.Status), t.Response) }

func stepSum(turn int64, s *wire.TurnStep) int64 {
	return sumOf([]int64{turn, int64(s.Number), int64(len(s.Calls))}, s.Text)
}

func callSum(turn int64, step, index int, c *wire.TurnCall) int64 {
	return sumOf([]int64{turn, int64(step), int64(index)}, c.ID, c.Function, c.Arguments, c.Tool)
}

func resultSum(turn int64, step, index int, r *wire.ToolResult) int64 {
	return sumOf([]int64{turn, int64(step), int64(index), truth(r.Retryable), int64(r.Took)}, string(r.Status), r.Text)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// clean returns the text as valid UTF-8.
func clean(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
