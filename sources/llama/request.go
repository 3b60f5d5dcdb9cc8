package llama

import (
	"strconv"

	"sluice/internal/wire"
)

// appendBody renders a request of POST /v1/chat/completions. stream_options.include_usage and
// return_progress make llama-server tell its counts; cache_prompt lets a slot reuse what it has read.
func appendBody(dst []byte, model string, r *wire.ModelRequest) []byte {
	dst = append(dst, `{"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"role":`...), m.Role, false)
		dst = append(wire.AppendString(append(dst, `,"content":`...), m.Content, false), '}')
	}
	dst = append(dst, `],"stream":true,"stream_options":{"include_usage":true},"return_progress":true,"cache_prompt":true`...)
	if model != "" {
		dst = wire.AppendString(append(dst, `,"model":`...), model, false)
	}
	if r.MaxTokens > 0 {
		dst = wire.AppendInt(append(dst, `,"max_tokens":`...), int64(r.MaxTokens))
	}
	if r.Temperature != nil {
		dst = strconv.AppendFloat(append(dst, `,"temperature":`...), *r.Temperature, 'g', -1, 64)
	}
	return append(dst, '}')
}
