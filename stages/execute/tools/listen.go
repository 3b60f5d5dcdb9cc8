package tools

import (
	"io"
	"net/http"
)

// listen is the answer to the request for the stream on which a server speaks first. The SDK asks for
// it while it connects and waits for the answer's header, which many servers send only with the first
// event. So the answer is made up, and the request itself is made by the first read of its body.
func (r *remote) listen(request *http.Request, done func()) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"text/event-stream"}},
		ContentLength: -1,
		Body:          &lateBody{base: r.base, request: request, done: done},
		Request:       request,
	}
}

// lateBody is the body of a request that is made when it is first read. It belongs to its reader.
type lateBody struct {
	base    http.RoundTripper
	request *http.Request
	done    func()
	body    io.ReadCloser // nil before the first read
}

// Read implements io.Reader. Of a server that has no such stream nothing ever comes.
func (b *lateBody) Read(p []byte) (int, error) {
	if b.body == nil {
		response, err := b.base.RoundTrip(b.request)
		if err != nil {
			return 0, err
		}
		b.body = response.Body
		if response.StatusCode != http.StatusOK || !isStream(response) {
			_ = response.Body.Close()
			<-b.request.Context().Done()
			return 0, b.request.Context().Err()
		}
	}
	return b.body.Read(p)
}

// Close implements io.Closer.
func (b *lateBody) Close() error {
	if b.body != nil {
		_ = b.body.Close()
	}
	b.done()
	return nil
}
