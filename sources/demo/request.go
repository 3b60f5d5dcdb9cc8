package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
)

const (
	defaultTemperature = 0.8            // llama-server's
	randomSeed         = math.MaxUint32 // llama-server's "draw one yourself"
)

// chatRequest is what the demo honours of an OpenAI chat request with
// llama-server's additions; it ignores the rest.
type chatRequest struct {
	Messages      json.RawMessage `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ReturnProgress      bool     `json:"return_progress"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	Predict             *int     `json:"n_predict"`
	Temperature         *float64 `json:"temperature"`
	Seed                *int64   `json:"seed"`
	IgnoreEnd           bool     `json:"ignore_eos"`

	Tools      []tool          `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`

	conversation []message // decoded from Messages
}

type message struct {
	Role      string        `json:"role"`
	Content   messageText   `json:"content"`
	ToolCalls []earlierCall `json:"tool_calls"`
}

// earlierCall is a call that an assistant's message holds.
type earlierCall struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// unpack makes arguments that came as a string, which is what the OpenAI chat format has, the JSON in
// it. They must be JSON.
func (c *earlierCall) unpack() *apiError {
	arguments := &c.Function.Arguments
	var text string
	if json.Unmarshal(*arguments, &text) == nil {
		*arguments = json.RawMessage(text)
	}
	if !json.Valid(*arguments) {
		return &apiError{Code: http.StatusInternalServerError, Message: "Failed to parse tool call arguments as JSON", Type: "server_error"}
	}
	return nil
}

// messageText is a message's text: a string, the text parts of an array, or null.
type messageText string

// UnmarshalJSON takes each of the forms that the OpenAI chat format has for text.
func (t *messageText) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, (*string)(t))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var joined strings.Builder
	for _, part := range parts {
		joined.WriteString(part.Text)
	}
	*t = messageText(joined.String())
	return nil
}

func decodeChat(r *http.Request) (*chatRequest, *apiError) {
	var request chatRequest
	if err := decodeBody(r, &request); err != nil {
		return nil, err
	}
	switch {
	case len(request.Messages) == 0:
		return nil, invalidRequest("'messages' is required")
	case !bytes.HasPrefix(request.Messages, []byte("[")):
		return nil, invalidRequest("Expected 'messages' to be an array")
	}
	if err := json.Unmarshal(request.Messages, &request.conversation); err != nil {
		return nil, invalidRequest(fmt.Sprintf("Failed to parse messages: %v", err))
	}
	for _, message := range request.conversation {
		for i := range message.ToolCalls {
			if err := message.ToolCalls[i].unpack(); err != nil {
				return nil, err
			}
		}
	}
	return &request, nil
}

func invalidRequest(text string) *apiError {
	return &apiError{Code: http.StatusBadRequest, Message: text, Type: "invalid_request_error"}
}

// limit is how many tokens are asked for at most, 0 for any number.
func (r *chatRequest) limit() int {
	for _, limit := range []*int{r.MaxCompletionTokens, r.MaxTokens, r.Predict} {
		if limit != nil && *limit > 0 {
			return *limit
		}
	}
	return 0
}

// answerOptions derive everything from the request alone: equal requests get equal
// answers, with a seed of their own or without, and different ones different answers.
func (r *chatRequest) answerOptions() AnswerOptions {
	options := AnswerOptions{Temperature: defaultTemperature, IgnoreEnd: r.IgnoreEnd}
	if r.Temperature != nil {
		options.Temperature = *r.Temperature
	}
	if r.Seed != nil && *r.Seed >= 0 && *r.Seed != randomSeed {
		options.Seed = uint64(*r.Seed)
	}
	var whole strings.Builder
	for _, message := range r.conversation {
		fmt.Fprintf(&whole, "%s\n%s\n", message.Role, message.Content)
		if message.Role == "user" {
			options.Topic = string(message.Content)
		}
	}
	options.Seed += hashText(whole.String())
	return options
}
