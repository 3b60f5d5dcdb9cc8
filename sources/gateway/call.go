package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// maxAnswerBytes bounds the body of an answer that is no stream.
const maxAnswerBytes = 16 << 20

// call is one HTTP request.
type call struct {
	method string
	server string // as NormalizeServerURL returns it
	path   string // below the server, escaped, with its query
	body   []byte // JSON; nil for none
	token  string // the bearer; empty for none
	stream bool
	// secrets are what no message may repeat, besides the token.
	secrets []string
}

// answer is what came back.
type answer struct {
	status   int
	body     string
	location string // of a redirect
	secrets  []string
}

// exchange sends a call and reads its answer, within limit. The error is a *wire.Fault, or the cause
// of ctx when that ended.
func (c *Client) exchange(ctx context.Context, what call, limit time.Duration) (answer, error) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, &tooSlow{limit})
	defer cancel()
	response, err := c.send(limited, what)
	if err != nil {
		return answer{}, explain(ctx, limited, err)
	}
	defer response.Body.Close()
	body, err := readBounded(response.Body, maxAnswerBytes)
	if err != nil {
		return answer{}, explain(ctx, limited, err)
	}
	return newAnswer(what, response, body), nil
}

func newAnswer(what call, response *http.Response, body []byte) answer {
	return answer{response.StatusCode, string(body), response.Header.Get("Location"), append(what.secrets, what.token)}
}

// send sends a call. The caller closes the body of the response.
func (c *Client) send(ctx context.Context, what call) (*http.Response, error) {
	request, err := c.newRequest(ctx, what)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	response, err := c.http.Do(request)
	route, _, _ := strings.Cut(what.path, "?")
	if err != nil {
		c.logger.Debug("gateway call failed", "method", what.method, "path", route, "took", time.Since(start), "error", reasonOf(err))
		return nil, err
	}
	c.logger.Debug("gateway call", "method", what.method, "path", route, "took", time.Since(start), "status", response.StatusCode)
	return response, nil
}

func (c *Client) newRequest(ctx context.Context, what call) (*http.Request, error) {
	var body io.Reader
	if what.body != nil {
		body = bytes.NewReader(what.body)
	}
	request, err := http.NewRequestWithContext(ctx, what.method, what.server+what.path, body)
	if err != nil {
		return nil, errBadRequest
	}
	header := request.Header
	header.Set("User-Agent", c.userAgent)
	header.Set("Accept", "application/json")
	if what.stream {
		// Compression would hold text back until a block of it is full.
		header.Set("Accept", "text/event-stream")
		header.Set("Accept-Encoding", "identity")
	}
	if what.body != nil {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if what.token != "" {
		header.Set("Authorization", "Bearer "+what.token)
	}
	return request, nil
}

// readBounded reads a body to its end, and fails with errTooLarge when it is longer than limit.
func readBounded(body io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, errTooLarge
	}
	return text, err
}

var (
	errTooLarge   = errors.New("the answer is larger than 16 MiB")
	errBadRequest = errors.New("the request can't be written")
)

// object returns the JSON object that a 2xx answer holds; any other answer is a fault.
func (a answer) object() (gjson.Result, error) {
	if a.status/100 != 2 {
		return gjson.Result{}, a.refused()
	}
	result, ok := objectIn(a.body)
	if !ok {
		return gjson.Result{}, a.fault(wire.CodeNetwork, "the gateway answered with "+a.looks()+" instead of a JSON object; check the profile's serverUrl")
	}
	return result, nil
}

// looks says what an answer is that is not what it should be.
func (a answer) looks() string {
	start := strings.ToLower(strings.TrimSpace(a.body[:min(len(a.body), 256)]))
	switch {
	case start == "":
		return "nothing"
	case strings.HasPrefix(start, "<"):
		return "a web page"
	}
	return "something else"
}

// objectIn reads text as a JSON object.
func objectIn(text string) (gjson.Result, bool) {
	if wire.TooDeep(bytesOf(text)) || !gjson.Valid(text) {
		return gjson.Result{}, false
	}
	result := gjson.Parse(text)
	return result, result.IsObject()
}
