package tools

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxRefusal is how much of an error's body is read.
	maxRefusal = 64 << 10
	// sessionHeader names the session (MCP 2025-11-25, streamable HTTP).
	sessionHeader = "Mcp-Session-Id"
)

// refusal is an HTTP answer that is no answer of an MCP server.
type refusal struct {
	status      int
	contentType string
	detail      string // the message of a JSON-RPC error, if there was one
	// unknownSession says that the server doesn't know the session: it was started anew, say.
	unknownSession bool
}

func (e *refusal) Error() string {
	answered := fmt.Sprintf("it answered HTTP %d %s", e.status, http.StatusText(e.status))
	switch {
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return answered + "; look at its headers in the configuration, Authorization above all"
	case e.status == http.StatusNotFound || e.status == http.StatusMethodNotAllowed:
		return answered + "; look at its url, which must be a streamable HTTP endpoint (the older SSE transport isn't supported)"
	case e.status < 300:
		return "it answered with " + e.contentType + ", which no MCP server does; look at its url"
	case e.detail != "":
		return answered + ": " + e.detail
	}
	return answered
}

// refuses returns what is wrong with an answer, which then is closed; nil for one that the SDK knows
// what to do with. The body of an error is read, so that a JSON-RPC error in it gets through.
func refuses(request *http.Request, response *http.Response) *refusal {
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	refused := &refusal{status: response.StatusCode, contentType: kind}
	if response.StatusCode < 300 {
		if kind != "text/html" {
			return nil
		}
		_ = response.Body.Close()
		return refused
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	_ = response.Body.Close()
	answered := errorIn(text)
	refused.unknownSession = unknownSession(request.Header.Get(sessionHeader), response.StatusCode, answered)
	if answered == nil {
		return refused
	}
	refused.detail = excerpt(cmp.Or(answered.Message, "no reason given"))
	if refused.unknownSession {
		return refused
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// unknownSession reports whether an HTTP status, with a JSON-RPC error or nil, says that the server
// doesn't know the session of the request, which may be empty. The status is 404 by the protocol, but
// servers made after the TypeScript SDK's examples answer 400, which others use for what is wrong with
// a call: of that only an error that names the session tells of it.
func unknownSession(session string, status int, answered *jsonrpc.Error) bool {
	if session == "" || status != http.StatusNotFound && status != http.StatusBadRequest {
		return false
	}
	if answered == nil || strings.Contains(answered.Message, session) {
		return true
	}
	switch answered.Code {
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams, jsonrpc.CodeInternalError:
		return false // it is about the call
	}
	return status == http.StatusNotFound || strings.Contains(strings.ToLower(answered.Message), "session")
}

// errorIn returns a JSON-RPC error; nil when the text is none.
func errorIn(text []byte) *jsonrpc.Error {
	message, err := jsonrpc.DecodeMessage(text)
	response, ok := message.(*jsonrpc.Response)
	if err != nil || !ok || response.Error == nil {
		return nil
	}
	var answered *jsonrpc.Error
	if !errors.As(response.Error, &answered) {
		return nil
	}
	return answered
}
