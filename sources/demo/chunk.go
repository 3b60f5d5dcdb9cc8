package demo

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"
)

// The parts of a streamed chunk, in llama-server's member order.
const (
	contentHead  = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":`
	contentTail  = `}}]`
	callHead     = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,`
	callTail     = `}}]}}]`
	roleChoice   = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]`
	finishChoice = `data: {"choices":[{"finish_reason":"%s","index":0,"delta":{}}]`
	noChoice     = `data: {"choices":[]`
	streamEnd    = "data: [DONE]\n\n"
)

// chunkEncoder appends the chunks of one answer. What is the same in all of them is
// rendered once, the creation time once a second.
type chunkEncoder struct {
	id     string
	second int64  // for which common is rendered
	common []byte // from "created" to "object"
}

func newChunkEncoder() *chunkEncoder {
	return &chunkEncoder{id: completionID()}
}

// completionID is unique enough to tell answers apart in a log.
func completionID() string {
	return "chatcmpl-" + rand.Text()
}

func (c *chunkEncoder) appendCommon(dst []byte) []byte {
	if now := time.Now().Unix(); now != c.second {
		c.second = now
		c.common = fmt.Appendf(c.common[:0], `,"created":%d,"id":"%s","model":"%s","system_fingerprint":"%s","object":"chat.completion.chunk"`,
			now, c.id, ModelName, systemFingerprint)
	}
	return append(dst, c.common...)
}

// content appends the chunk of one token; literal is its text as a JSON string.
func (c *chunkEncoder) content(dst, literal []byte) []byte {
	dst = append(dst, contentHead...)
	dst = append(dst, literal...)
	dst = append(dst, contentTail...)
	return append(c.appendCommon(dst), "}\n\n"...)
}

// openCall appends the chunk that names a called tool and begins its arguments.
func (c *chunkEncoder) openCall(dst []byte, call *toolCall, literal []byte) []byte {
	dst = fmt.Appendf(append(dst, callHead...), `"id":"%s","type":"function","function":{"name":%s,"arguments":`, call.id, jsonString(call.name))
	dst = append(append(dst, literal...), callTail...)
	return append(c.appendCommon(dst), "}\n\n"...)
}

// callArguments appends the chunk of one more piece of a tool call's arguments.
func (c *chunkEncoder) callArguments(dst, literal []byte) []byte {
	dst = append(append(dst, callHead...), `"function":{"arguments":`...)
	dst = append(append(dst, literal...), callTail...)
	return append(c.appendCommon(dst), "}\n\n"...)
}

func (c *chunkEncoder) role(dst []byte) []byte {
	return append(c.appendCommon(append(dst, roleChoice...)), "}\n\n"...)
}

// progress appends a report that so many of the prompt's tokens have been read.
func (c *chunkEncoder) progress(dst []byte, processed, total int, elapsed time.Duration) []byte {
	dst = c.appendCommon(append(dst, roleChoice...))
	return fmt.Appendf(dst, `,"prompt_progress":{"total":%d,"cache":0,"processed":%d,"time_ms":%d}}`+"\n\n",
		total, processed, elapsed.Milliseconds())
}

// finish appends the last chunks; usage asks for one of its own, which then has the
// timings, and which llama-server sends without a choice.
func (c *chunkEncoder) finish(dst []byte, done completion, usage bool) []byte {
	dst = c.appendCommon(fmt.Appendf(dst, finishChoice, done.reason))
	if usage {
		dst = append(dst, "}\n\n"...)
		dst = c.appendCommon(append(dst, noChoice...))
		dst = append(dst, `,"usage":`...)
		dst = done.appendUsage(dst)
	}
	dst = append(dst, `,"timings":`...)
	dst = append(done.appendTimings(dst), "}\n\n"...)
	return append(dst, streamEnd...)
}

// completion is what is known of an answer at its end.
type completion struct {
	reason         string // "stop", "length" or "tool_calls"
	promptTokens   int
	tokens         int
	promptDuration time.Duration
	duration       time.Duration // from the first token to the last
}

func (c completion) appendUsage(dst []byte) []byte {
	return fmt.Appendf(dst, `{"completion_tokens":%d,"prompt_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0}}`,
		c.tokens, c.promptTokens, c.promptTokens+c.tokens)
}

func (c completion) appendTimings(dst []byte) []byte {
	dst = append(dst, `{"cache_n":0,`...)
	dst = appendTiming(dst, "prompt", c.promptTokens, c.promptDuration)
	dst = appendTiming(append(dst, ','), "predicted", c.tokens, c.duration)
	return append(dst, '}')
}

func appendTiming(dst []byte, what string, count int, took time.Duration) []byte {
	took = max(took, time.Microsecond) // the rates below must stay finite
	milliseconds := float64(took) / float64(time.Millisecond)
	for i, member := range []struct {
		name  string
		value float64
	}{
		{"_n", float64(count)},
		{"_ms", milliseconds},
		{"_per_token_ms", milliseconds / float64(max(count, 1))},
		{"_per_second", float64(count) / took.Seconds()},
	} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `"%s%s":`, what, member.name)
		dst = strconv.AppendFloat(dst, member.value, 'f', -1, 64)
	}
	return dst
}
