package llama

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
	"sluice/sources/sse"
)

const (
	// The read buffer starts small and grows to what a fast stream fills: 64 KiB a read measured
	// 1.3 times as fast as net/http's 4 KiB.
	firstBuffer = 8 << 10
	lastBuffer  = 64 << 10
	// maxFrameBytes bounds one event of the stream.
	maxFrameBytes = 16 << 20
	// endPatience is how long the end of the response is waited for after [DONE], so that the
	// connection can serve the next chat.
	endPatience = 100 * time.Millisecond
)

// Stream is one chat completion: a go-streams Source of *wire.Tokens, one batch for each read. It
// runs in the goroutine that calls Run, once.
type Stream struct {
	lease    *Lease
	model    string
	request  *wire.ModelRequest
	next     wire.Stage
	out      chan any // created by Out
	parser   chunkParser
	tokens   wire.Tokens
	texts    []byte // the tokens' texts of one read; reused
	begun    bool   // an event came
	finished bool   // a finish reason came
	done     bool   // [DONE] came
	upstream time.Duration
}

// Stream returns the stream of one request, not yet sent. model is sent as the request's model;
// empty leaves it out.
func (l *Lease) Stream(model string, request *wire.ModelRequest) *Stream {
	return &Stream{lease: l, model: model, request: request, parser: chunkParser{key: l.Key}}
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

// Upstream is the time that Run spent waiting for the server.
func (s *Stream) Upstream() time.Duration { return s.upstream }

// Run sends the request and pushes what comes back until the answer is complete. The error is a
// *wire.Fault, the cause of ctx, or that of the next stage; the request's connection is closed by
// then, which stops the server.
func (s *Stream) Run(ctx context.Context) (err error) {
	defer func() { s.next.Done(err) }()
	watched, silence, stop := s.lease.Watch(ctx)
	defer stop()
	response, err := s.send(watched)
	if err != nil {
		return s.unsent(watched, err)
	}
	defer response.Body.Close()
	silence.Touch()
	if response.StatusCode != http.StatusOK {
		return s.refused(response)
	}
	return s.explain(watched, s.receive(watched, response.Body, silence))
}

func (s *Stream) send(ctx context.Context) (*http.Response, error) {
	request, err := s.lease.newPost(ctx, "/v1/chat/completions", appendBody(nil, s.model, s.request))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	start := time.Now()
	response, err := s.lease.Client.Do(request)
	s.upstream += time.Since(start)
	return response, err
}

// receive reads the event stream to its end. nil means that the answer is complete.
func (s *Stream) receive(ctx context.Context, body io.ReadCloser, silence *Silence) error {
	decoder := sse.New(sse.Options{MaxFrameBytes: maxFrameBytes})
	take := s.take
	buffer := make([]byte, firstBuffer)
	for {
		start := time.Now()
		n, err := body.Read(buffer)
		s.upstream += time.Since(start)
		if n > 0 {
			silence.Touch()
			if failed := s.push(ctx, s.decode(decoder, buffer[:n], take)); failed != nil {
				return failed
			}
		}
		if s.done {
			finishBody(body)
			return nil
		}
		if err != nil {
			return s.ended(err)
		}
		if n == len(buffer) && n < lastBuffer {
			buffer = make([]byte, 2*n)
		}
	}
}

// push hands the tokens of one read on, those before a fault included.
func (s *Stream) push(ctx context.Context, decoded error) error {
	if s.tokens.Finish != "" {
		s.finished = true
	}
	var err error
	if s.tokens.Len() > 0 {
		err = s.next.Push(ctx, &s.tokens)
		s.tokens.Reset()
		s.texts = s.texts[:0]
	}
	if errors.Is(decoded, sse.ErrFrameTooLarge) {
		return wire.NewFault(wire.CodeInternal, "the model server sent an event of more than 16 MiB; check that the address is a llama-server")
	}
	if decoded != nil {
		return decoded
	}
	return err
}

// errNoEvent is what any web server's page looks like to us.
var errNoEvent = errors.New("the answer was no event stream, so this may be no llama-server")

// ended judges the end of a response that had no end mark. An answer that has its finish reason is
// complete; anything else was cut off.
func (s *Stream) ended(err error) error {
	if s.finished {
		return nil
	}
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case !s.begun:
		return errNoEvent
	}
	return io.ErrUnexpectedEOF
}

// finishBody reads the little that follows the end mark, so that the connection can be used again,
// but doesn't wait long for it.
func finishBody(body io.ReadCloser) {
	timer := time.AfterFunc(endPatience, func() { body.Close() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, lastBuffer))
}

// explain names what ended the stream: the cause of ctx first, because it closes the connection.
func (s *Stream) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var fault *wire.Fault
	if errors.As(err, &fault) {
		return fault
	}
	return s.lease.Describe(err)
}

// unsent explains a request that got no answer. One that couldn't even connect has met a server that
// ended since the lease was given.
func (s *Stream) unsent(ctx context.Context, err error) error {
	explained := s.explain(ctx, err)
	var dial *net.OpError
	var fault *wire.Fault
	if errors.As(err, &dial) && dial.Op == "dial" && errors.As(explained, &fault) {
		return &wire.NotReady{Fault: fault}
	}
	return explained
}
