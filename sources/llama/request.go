package llama

import (
	"strconv"

	"sluice/internal/wire"
)

// appendBody renders a request of POST /v1/chat/completions. stream_options.include_usage and
// return_progress make llama-server tell its counts; cache_prompt lets a slot reuse what it has read.
func appendBody(dst []byte, model string, r *wire.ModelRequest) []byte {
	dst = appendPrompt(dst, model, r)
	dst = append(dst, `,"stream":true,"stream_options":{"include_usage":true},"return_progress":true,"cache_prompt":true`...)
	if r.MaxTokens > 0 {
		dst = wire.AppendInt(append(dst, `,"max_tokens":`...), int64(r.MaxTokens))
	}
	if r.Temperature != nil {
		dst = strconv.AppendFloat(append(dst, `,"temperature":`...), *r.Temperature, 'g', -1, 64)
	}
	return append(dst, '}')
}

// appendPrompt renders the members that the prompt is made of, without the closing brace. They are
// those of POST /apply-template too.
func appendPrompt(dst []byte, model string, r *wire.ModelRequest) []byte {
	dst = append(dst, `{"messages":[`...)
	for i := range r.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMessage(dst, &r.Messages[i])
	}
	dst = append(dst, ']')
	if len(r.Tools) > 0 {
		dst = append(appendTools(append(dst, `,"tools":[`...), r.Tools), `],"parallel_tool_calls":true`...)
	}
	if model != "" {
		dst = wire.AppendString(append(dst, `,"model":`...), model, false)
	}
	return dst
}

// appendMessage renders a message. The content of one that only calls tools is an empty string: the
// OpenAI API takes null as well, but not every template does, and llama-server makes the same prompt
// of both.
func appendMessage(dst []byte, m *wire.Message) []byte {
	dst = wire.AppendString(append(dst, `{"role":`...), m.Role, false)
	dst = wire.AppendString(append(dst, `,"content":`...), m.Content, false)
	if len(m.Calls) > 0 {
		dst = append(appendCalls(append(dst, `,"tool_calls":[`...), m.Calls), ']')
	}
	if m.CallID != "" {
		dst = wire.AppendString(append(dst, `,"tool_call_id":`...), m.CallID, false)
	}
	return append(dst, '}')
}
