package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/tokens"
)

// maximumRate is one token a microsecond, more than a write of each token allows.
const maximumRate = 1e6

// request is what a chat completion request asks of the load server.
type request struct {
	count    int           // tokens to send
	rate     float64       // tokens per second, 0 for as fast as they are read
	during   time.Duration // stop after this time, whatever the count; 0 for never
	name     string        // by which the client finds the stream in the statistics
	usage    bool          // stream_options.include_usage
	progress bool          // return_progress
	closes   bool          // the client wants the connection closed afterwards
}

// parseRequest reads the steering words n=…, rate=…, for=… and name=… from the last user message.
func parseRequest(body []byte) (request, error) {
	if !gjson.ValidBytes(body) {
		return request{}, fmt.Errorf("the body is no JSON")
	}
	document := gjson.ParseBytes(body)
	r := request{
		count:    20,
		usage:    document.Get("stream_options.include_usage").Bool(),
		progress: document.Get("return_progress").Bool(),
	}
	for word := range strings.FieldsSeq(lastUserText(document)) {
		if err := r.steer(word); err != nil {
			return request{}, err
		}
	}
	return r, nil
}

func (r *request) steer(word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "n":
		r.count, err = strconv.Atoi(value)
		if err == nil && (r.count < 1 || r.count > tokens.Limit) {
			err = fmt.Errorf("n=%d is not between 1 and %d", r.count, tokens.Limit)
		}
	case "rate":
		r.rate, err = strconv.ParseFloat(value, 64)
		if err == nil && !(r.rate >= 0 && r.rate <= maximumRate) {
			err = fmt.Errorf("rate=%s is not between 0 and %d", value, int(maximumRate))
		}
	case "name":
		r.name = value
	case "for":
		r.during, err = time.ParseDuration(value)
		if err == nil && r.during < 0 {
			err = fmt.Errorf("for=%s is less than nothing", value)
		}
	}
	return err
}

// lastUserText returns the content of the last user message, as a string or as its text parts.
func lastUserText(document gjson.Result) string {
	users := document.Get(`messages.#(role=="user")#.content`).Array()
	if len(users) == 0 {
		return ""
	}
	content := users[len(users)-1]
	if !content.IsArray() {
		return content.String()
	}
	var text []string
	for _, part := range content.Get("#.text").Array() {
		text = append(text, part.String())
	}
	return strings.Join(text, " ")
}
