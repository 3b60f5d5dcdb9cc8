package llama

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

const (
	// maxErrorBytes bounds how much of an error's body is read, errorPatience how long that may take:
	// what the status says is known by then.
	maxErrorBytes = 64 << 10
	errorPatience = 2 * time.Second
)

// refused turns an answer other than 200 into a fault.
func (s *Stream) refused(response *http.Response) error {
	body := readError(response.Body)
	e := gjson.GetBytes(body, "error")
	text := answerText(body, s.lease.Key)
	fault := wire.NewFault(wire.CodeInternal, fmt.Sprintf("the model server answered HTTP %d: %s; %s", response.StatusCode, text, advice(response.StatusCode, e)))
	switch {
	case response.StatusCode == http.StatusServiceUnavailable && e.Get("type").String() == "unavailable_error":
		s.lease.server.recheck(s.lease.instance)
		return &wire.NotReady{Fault: fault}
	case e.Get("type").String() == overflowType:
		return &wire.Overflow{Fault: fault, PromptTokens: tokenCount(e, "n_prompt_tokens"), ContextSize: tokenCount(e, "n_ctx")}
	}
	return fault
}

// overflowType is llama-server's name for the error of a prompt that doesn't fit.
const overflowType = "exceed_context_size_error"

// tokenCount reads a number of tokens, 0 where there is none.
func tokenCount(e gjson.Result, name string) int {
	return int(min(max(e.Get(name).Int(), 0), math.MaxInt32))
}

// answerText is what the body of an error says, in as far as a message repeats it.
func answerText(body []byte, key string) string {
	if e := gjson.GetBytes(body, "error"); e.Type != gjson.Null {
		return errorText(e, key)
	}
	return excerpt(string(body), key)
}

// readError reads what comes of an error's body.
func readError(body io.ReadCloser) []byte {
	timer := time.AfterFunc(errorPatience, func() { body.Close() })
	defer timer.Stop()
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBytes))
	return text
}

// schemaTrouble finds what llama-server says of a tool whose arguments it can make no grammar of.
var schemaTrouble = regexp.MustCompile(`(?i)json schema conversion|parse grammar`)

// advice says what to do about a refused request.
func advice(status int, e gjson.Result) string {
	switch {
	case e.Get("type").String() == overflowType:
		return "shorten the input, or raise models[].ctx_size"
	case status == http.StatusBadRequest && schemaTrouble.MatchString(e.Get("message").String()):
		return "the server can't use the arguments of a tool; leave the tool out with agents[].tools"
	case status/100 == 3:
		return "it redirects, which is not followed; set llama_server.url to where the server really is"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "check llama_server.api_key"
	case status == http.StatusNotFound:
		return "check that llama_server.url is a llama-server"
	case status == http.StatusServiceUnavailable:
		return "it is still loading or overloaded; try again"
	}
	return "try again, and look at its log"
}
