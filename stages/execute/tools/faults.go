package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sluice/internal/wire"
)

// maxLines is how many bytes of a server's last lines go into a message.
const maxLines = 4 << 10

// failure is the result of a call that brought an error, while neither the caller nor the time was over.
func (l *life) failure(ctx context.Context, err error, sent *mark) (result wire.ToolResult, unsent bool) {
	var refused *refusal
	var answered *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.unknownSession:
		l.settle(ctx) // the next start makes a new session
	case errors.As(err, &refused), isNetwork(err):
		return failure(true, "MCP server %q can't be asked: %s", l.s.name, l.s.o.Clean(reason(err))), false
	case isBroken(err):
		l.settle(ctx)
	case errors.As(err, &answered):
		retryable := answered.Code == jsonrpc.CodeInvalidParams || answered.Code == jsonrpc.CodeInternalError
		return failure(retryable, "the tool failed: %s", l.s.o.Clean(excerpt(answered.Message))), false
	case isInvalid(err) || !l.isLost():
		l.s.log.Debug("a tool's result can't be read", "error", l.s.o.Clean(excerpt(err.Error())))
		return failure(false, "the tool's result can't be read: %s", invalidAnswer("tools/call")), false
	}
	result, gone := l.broken(ctx)
	return result, gone && !sent.sent.Load() // until it is gone something may still be sent
}

// isBroken reports whether the connection failed under a call.
func isBroken(err error) bool {
	var long tooLong
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, errClosed) || errors.Is(err, errUnread) || errors.Is(err, errOutput) || errors.As(err, &long)
}

// isNetwork reports whether a request failed that will be made anew by the next call.
func isNetwork(err error) bool {
	var request *url.Error
	return errors.As(err, &request)
}

// settle waits a little for a broken session to be known as lost.
func (l *life) settle(ctx context.Context) {
	l.cut()
	select {
	case <-l.lost:
	case <-ctx.Done():
	}
}

// broken is the result of a call whose server ended. It waits until the life is gone, which has the
// reason, but not for long.
func (l *life) broken(ctx context.Context) (result wire.ToolResult, gone bool) {
	timer := time.NewTimer(explainLimit)
	defer timer.Stop()
	select {
	case <-l.gone:
		return failure(true, "MCP server %q ended during the call: %s", l.s.name, l.reason), true
	case <-ctx.Done():
		return cancelled(), false
	case <-timer.C:
		return failure(true, "MCP server %q ended during the call", l.s.name), false
	}
}

// why explains a start or a request that failed.
func (l *life) why(err error) string {
	switch {
	case errors.Is(err, errTimeout):
		text := fmt.Sprintf("it did not answer %s within %s", l.phase, l.s.o.Timeout)
		if l.process != nil {
			return text + l.lastLines()
		}
		return text + "; look at its url and at the network"
	case l.process != nil && isBroken(err) && !isTold(err):
		return "it ended during its start" + l.how()
	}
	if undecodable(err) {
		return invalidAnswer(l.phase).Error()
	}
	return reason(err)
}

// undecodable reports whether an error is the decoder's, whose words tell of our types.
func undecodable(err error) bool {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	return errors.As(err, &kind) || errors.As(err, &syntax) || strings.Contains(err.Error(), "json: ") ||
		strings.Contains(err.Error(), "unmarshal") || strings.Contains(err.Error(), "failed to decode")
}

// isTold reports whether an error itself tells what the server did wrong.
func isTold(err error) bool {
	var long tooLong
	return errors.As(err, &long) || errors.Is(err, errUnread) || errors.Is(err, errOutput)
}

// explainEnd tells how a life ended that had begun well.
func (l *life) explainEnd() string {
	err := l.session.Wait()
	switch {
	case l.process == nil && err != nil:
		return "the connection was lost: " + reason(err)
	case l.process == nil:
		return "the connection was lost"
	case err != nil && isTold(err):
		return reason(err)
	}
	return "it ended" + l.how()
}

// how tells how the process ended, with its last lines. It has ended.
func (l *life) how() string {
	return " (" + l.process.State() + ")" + l.lastLines()
}

// lastLines is the end of a message: what the server last printed on stderr.
func (l *life) lastLines() string {
	lines, size := l.process.Lines(), 0
	first := len(lines)
	for first > 0 && size+len(lines[first-1]) < maxLines {
		first--
		size += len(lines[first]) + 1
	}
	if first == len(lines) {
		return "; it printed nothing on stderr"
	}
	return ". Its last lines:\n" + strings.Join(lines[first:], "\n")
}

// reason is an error in words for people: without what the SDK and net/http put around it, and without
// the URL, in which there may be a secret.
func reason(err error) string {
	var refused *refusal
	var elsewhere *redirected
	var request *url.Error
	var answered *jsonrpc.Error
	var invalid invalidAnswer
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &elsewhere):
		return elsewhere.Error()
	case errors.As(err, &request):
		return excerpt(request.Err.Error())
	case errors.As(err, &answered):
		return excerpt("it answered: " + answered.Message)
	case errors.Is(err, errOutput):
		return errOutput.Error()
	case errors.As(err, &invalid):
		return invalid.Error()
	case undecodable(err):
		return "it sent something that is no valid message of MCP"
	}
	return excerpt(err.Error())
}

// down returns why the server isn't there and how long it isn't started again.
func (s *server) down() (fault string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault, time.Until(s.retryAt)
}
