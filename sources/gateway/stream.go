package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
	"sluice/sources/sse"
)

const (
	// The read buffer starts small and grows to what a fast stream fills.
	firstBuffer = 8 << 10
	// maxFrameBytes bounds one frame of the stream.
	maxFrameBytes = 16 << 20
	// endPatience is how long the end of the response is waited for after a frame end, so that the
	// connection can serve the next call.
	endPatience = 100 * time.Millisecond
	// maxRefusalBytes bounds what is read of the body of a refusal, refusalPatience how long that may
	// take: what the status says is known by then.
	maxRefusalBytes = 64 << 10
	refusalPatience = 2 * time.Second
)

// ChatRequest is one message to an agent.
type ChatRequest struct {
	WorkflowID, WorkflowName string
	// InteractionID is the conversation; a new one has an id that the caller made.
	InteractionID string
	// Input is a JSON string, object or array, valid and on one line.
	Input string
}

// Stream is the answer to one chat: a go-streams Source of *wire.Tokens, one batch for each read. It runs
// in the goroutine that calls Run, once.
type Stream struct {
	account  *Account
	request  ChatRequest
	next     wire.Stage
	out      chan any // created by Out
	upstream time.Duration
}

// OpenChat returns the stream of one chat, not yet sent.
func (a *Account) OpenChat(request ChatRequest) *Stream {
	return &Stream{account: a, request: request}
}

// Via makes flow the next operator and returns it.
func (s *Stream) Via(flow streams.Flow) streams.Flow {
	s.next = wire.Downstream(flow)
	return flow
}

// Out returns a channel for a foreign operator behind this source.
func (s *Stream) Out() <-chan any {
	if s.out == nil {
		s.out = make(chan any)
		s.next = wire.ToChannel(s.out)
	}
	return s.out
}

// Upstream is the time that Run spent waiting for the gateway.
func (s *Stream) Upstream() time.Duration { return s.upstream }

// Run sends the chat and pushes what comes back until the stream ends: with a frame end, or with the
// clean end of the response. The error is a *wire.Fault, the cause of ctx, or that of the next stage; the
// connection is closed by then, which stops nothing at the gateway: the run goes on there.
func (s *Stream) Run(ctx context.Context) (err error) {
	defer func() { s.next.Done(err) }()
	got, err := attempt(ctx, s.account.session, func(token string) (opened, int, error) { return s.open(ctx, token) })
	if err != nil {
		return err
	}
	if got.body == nil {
		return got.refusal
	}
	defer got.body.Close()
	return s.receive(ctx, got.body)
}

// opened is the response to a chat: the body of a stream, or why there is none.
type opened struct {
	body    io.ReadCloser
	refusal *wire.Fault
}

func (s *Stream) open(ctx context.Context, token string) (opened, int, error) {
	what := call{
		method: http.MethodPost, server: s.account.server, path: "/api/agentflow/execute/based-id/stream",
		body: appendChat(nil, s.request), token: token, stream: true,
	}
	start := time.Now()
	response, err := s.account.client.send(ctx, what)
	s.upstream += time.Since(start)
	if err != nil {
		return opened{}, 0, explain(ctx, ctx, err)
	}
	if isStream(response) {
		return opened{body: response.Body}, response.StatusCode, nil
	}
	defer response.Body.Close()
	got := newAnswer(what, response, readRefusal(response.Body))
	if got.status != http.StatusOK {
		return opened{refusal: got.refused()}, got.status, nil
	}
	return opened{refusal: got.fault(wire.CodeNetwork, "the gateway answered with "+got.looks()+" instead of an event stream"+got.reason()+"; check the profile's serverUrl")}, got.status, nil
}

// isStream reports whether a response is to be read as an event stream. Servers name the type in many
// ways; what says that it is JSON or a page is none, and what came compressed can't be read.
func isStream(response *http.Response) bool {
	kind := strings.ToLower(response.Header.Get("Content-Type"))
	coding := strings.ToLower(response.Header.Get("Content-Encoding"))
	return response.StatusCode == http.StatusOK && !strings.Contains(kind, "json") && !strings.Contains(kind, "html") &&
		(coding == "" || coding == "identity")
}

// appendChat writes the body of a chat.
func appendChat(dst []byte, request ChatRequest) []byte {
	dst = appendMember(dst, '{', "workflow_name", request.WorkflowName)
	dst = appendMember(dst, ',', "workflow_id", request.WorkflowID)
	dst = append(append(dst, `,"input_data":`...), request.Input...)
	dst = appendMember(dst, ',', "interaction_id", request.InteractionID)
	return append(dst, `,"selected_collections":[],"selected_files":[],"include_logs":true,"include_node_status":true,`+
		`"include_tool_events":true,"response_format":"stream","client_surface":"connector"}`...)
}

// receive reads the event stream to its end. nil means that it ended in order.
func (s *Stream) receive(ctx context.Context, body io.ReadCloser) error {
	reader := newReader()
	buffer := make([]byte, firstBuffer)
	for {
		start := time.Now()
		n, err := body.Read(buffer)
		s.upstream += time.Since(start)
		decoded := reader.read(buffer[:n])
		if err == io.EOF && decoded == nil {
			decoded = reader.finish()
		}
		if failed := s.push(ctx, reader, decoded); failed != nil {
			return failed
		}
		switch {
		case reader.ended:
			finishBody(body)
			return nil
		case err == io.EOF:
			return nil
		case err != nil:
			return lost(ctx, err)
		}
		if n == len(buffer) && n < readBuffer {
			buffer = make([]byte, 2*n)
		}
	}
}

// push hands on what one read brought, also before a fault of the stream.
func (s *Stream) push(ctx context.Context, reader *reader, decoded error) error {
	var err error
	if reader.tokens.Len() > 0 {
		err = s.next.Push(ctx, &reader.tokens)
		reader.reset()
	}
	if errors.Is(decoded, sse.ErrFrameTooLarge) {
		return wire.NewFault(wire.CodeNetwork, "the gateway sent a frame of more than 16 MiB; tell its administrator")
	}
	if decoded != nil {
		return decoded
	}
	return err
}

// lost explains a stream that broke off.
func lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return wire.NewFault(wire.CodeNetwork, "the answer of the gateway broke off: "+reasonOf(err)+"; the run may go on there, see the conversation's history")
}

// finishBody reads the little that follows the end, so that the connection can be used again, but
// doesn't wait long for it.
func finishBody(body io.ReadCloser) {
	timer := time.AfterFunc(endPatience, func() { body.Close() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, readBuffer))
}

// readRefusal reads what comes of a refusal's body.
func readRefusal(body io.ReadCloser) []byte {
	timer := time.AfterFunc(refusalPatience, func() { body.Close() })
	defer timer.Stop()
	text, _ := io.ReadAll(io.LimitReader(body, maxRefusalBytes))
	return text
}
