package tools

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mend makes the answer to a request, a JSON text or a stream of events, one that mends what it brings.
// An answer that comes on another stream, after this one broke, isn't mended.
func (r *remote) mend(request *http.Request, response *http.Response) {
	asked := requestIn(request)
	if asked == nil || response.StatusCode != http.StatusOK {
		return
	}
	a := &answers{mended: r.mended}
	a.tell(asked)
	if isStream(response) {
		response.Body = &mendedStream{Closer: response.Body, reader: bufio.NewReader(response.Body), answers: a, limit: r.limit}
		return
	}
	response.Body = &mendedBody{ReadCloser: response.Body, answers: a}
	response.ContentLength = -1
}

// requestIn returns the call that an HTTP request carries; nil when it carries none.
func requestIn(request *http.Request) *jsonrpc.Request {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	text, _ := io.ReadAll(body)
	message, _ := jsonrpc.DecodeMessage(text)
	asked, ok := message.(*jsonrpc.Request)
	if !ok || !asked.IsCall() {
		return nil
	}
	return asked
}

// mendedBody is an answer that is one JSON text. It belongs to its reader.
type mendedBody struct {
	io.ReadCloser
	answers *answers
	rest    *bytes.Reader // nil before the first read
}

// Read implements io.Reader.
func (b *mendedBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		text, err := io.ReadAll(b.ReadCloser)
		if err != nil {
			return 0, err
		}
		b.rest = bytes.NewReader(b.answers.text(text))
	}
	return b.rest.Read(p)
}

// mendedStream is an answer that is a stream of events. Of those that have their data on one line, as
// servers send it, the data is mended. It belongs to its reader.
type mendedStream struct {
	io.Closer
	reader  *bufio.Reader
	answers *answers
	limit   int // of a line, in bytes; the SDK refuses a longer one, which is handed on as it comes

	rest []byte
	raw  bool  // such a line came
	err  error // what comes after rest
}

// Read implements io.Reader.
func (s *mendedStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// fill gets the next line into rest, or a piece of one that isn't mended.
func (s *mendedStream) fill() {
	var line []byte
	for {
		piece, err := s.reader.ReadSlice('\n')
		line = append(line, piece...)
		full := errors.Is(err, bufio.ErrBufferFull)
		if full && !s.raw && len(line) <= s.limit {
			continue
		}
		s.raw = s.raw || full
		if s.rest = line; !s.raw {
			s.rest = s.answers.event(line)
		}
		if !full {
			s.err = err
		}
		return
	}
}

// event mends a line of an event.
func (a *answers) event(line []byte) []byte {
	data, found := bytes.CutPrefix(line, []byte("data:"))
	if !found {
		return line
	}
	text := bytes.TrimSpace(data)
	mended := a.text(text)
	if bytes.Equal(mended, text) {
		return line
	}
	return append(append([]byte("data: "), mended...), '\n')
}
