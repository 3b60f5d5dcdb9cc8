package load

import (
	"strconv"

	"sluice/internal/bench/tokens"
)

// The member order and the spacing of the chunks are those of llama-server (llama.cpp v0.4.0), as
// recorded in testdata/chat.sse and testdata/chat-usage.sse.
const (
	contentHead   = `{"finish_reason":null,"index":0,"delta":{"content":"`
	contentTail   = `"}}`
	roleChoice    = `{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}`
	finishChoice  = `{"finish_reason":"stop","index":0,"delta":{}}`
	chunkHead     = `data: {"choices":[`
	createdHead   = `],"created":`
	doneFrame     = "data: [DONE]\n\n"
	createdDigits = 10 // seconds since 1970, until the year 2286
)

// identity holds what stays the same in all chunks of one stream.
type identity struct {
	id    string
	model string
}

// appendChunk appends one SSE frame. More holds further members, each led by a comma.
func (d identity) appendChunk(dst []byte, choices string, created int64, more string) []byte {
	dst = append(dst, chunkHead...)
	dst = append(dst, choices...)
	dst = append(dst, createdHead...)
	dst = strconv.AppendInt(dst, created, 10)
	dst = append(dst, `,"id":"`...)
	dst = append(dst, d.id...)
	dst = append(dst, `","model":"`...)
	dst = append(dst, d.model...)
	dst = append(dst, `","system_fingerprint":"b1-80fb11a","object":"chat.completion.chunk"`...)
	dst = append(dst, more...)
	return append(dst, "}\n\n"...)
}

func timings(count int) string {
	return `,"timings":{"cache_n":0,"prompt_n":25,"prompt_ms":22.176,"prompt_per_token_ms":0.88704,` +
		`"prompt_per_second":1127.3448773448774,"predicted_n":` + strconv.Itoa(count) +
		`,"predicted_ms":4.284,"predicted_per_token_ms":0.612,"predicted_per_second":1633.9869281045753}`
}

func usage(count int) string {
	return `,"usage":{"completion_tokens":` + strconv.Itoa(count) + `,"prompt_tokens":25,"total_tokens":` +
		strconv.Itoa(count+25) + `,"prompt_tokens_details":{"cached_tokens":0}}`
}

func promptProgress(processed int) string {
	return `,"prompt_progress":{"total":25,"cache":0,"processed":` + strconv.Itoa(processed) + `,"time_ms":1}`
}

// block is one HTTP chunk of equally long SSE frames, rendered once. Only the digits that differ
// from block to block are written again, so sending costs little more than the kernel's copy.
type block struct {
	bytes     []byte
	start     int // offset of the first frame, behind the length of the HTTP chunk
	stride    int // bytes of one frame
	createdAt int // offset of created in a frame
	created   int64
	count     int
}

func newBlock(d identity, count, width int, created int64) *block {
	frame := d.appendChunk(nil, contentHead+string(make([]byte, width))+contentTail, created, "")
	b := &block{stride: len(frame), count: count, created: created}
	b.createdAt = len(chunkHead) + len(contentHead) + width + len(contentTail) + len(createdHead)
	b.bytes = appendChunkSize(nil, len(frame)*count)
	b.start = len(b.bytes)
	for range count {
		b.bytes = append(b.bytes, frame...)
	}
	b.bytes = append(b.bytes, "\r\n"...)
	return b
}

// text returns the token of the frame with the given index, to be written over.
func (b *block) text(index int) []byte {
	return b.bytes[b.start+index*b.stride+len(chunkHead)+len(contentHead):]
}

// number gives the frames the sequence numbers from first on.
func (b *block) number(first int) {
	for i := range b.count {
		tokens.PutPlain(b.text(i), first+i)
	}
}

// date sets created in all frames; it does nothing within the same second.
func (b *block) date(created int64) {
	if b.created == created {
		return
	}
	b.created = created
	digits := strconv.AppendInt(make([]byte, 0, createdDigits), created, 10)
	for i := range b.count {
		copy(b.bytes[b.start+i*b.stride+b.createdAt:], digits)
	}
}

// appendChunkSize appends the line that starts an HTTP chunk of size bytes.
func appendChunkSize(dst []byte, size int) []byte {
	return append(strconv.AppendInt(dst, int64(size), 16), "\r\n"...)
}

// FrameBytes is the length of a content frame with a token of the given width, without its share of
// the HTTP framing.
func FrameBytes(width int) int {
	return newBlock(newIdentity(), 1, width, 1_796_032_213).stride
}
