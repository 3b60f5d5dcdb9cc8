package tools

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// deleteLimit bounds the request that ends a session, which is only polite.
const deleteLimit = time.Second

// remote is the way to a streamable HTTP endpoint through one life. It is the http.RoundTripper under
// the SDK's transport: it adds the headers, bounds what is read, tells errors apart, and ends every
// request with the life.
type remote struct {
	endpoint *url.URL
	headers  map[string]string
	limit    int // of a message, in bytes
	base     *http.Transport
	ctx      context.Context // ends with the life
	cancel   context.CancelFunc
	mended   func(method string, m *mending) // told what was wrong with an answer; may be nil

	mu   sync.Mutex
	conn mcp.Connection // set by Connect
}

func newRemote(o Server, limit int) *remote {
	r := &remote{headers: o.Headers, limit: limit, base: http.DefaultTransport.(*http.Transport).Clone()}
	r.endpoint, _ = url.Parse(o.URL) // one that can't be parsed fails in the SDK's request
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Connect implements mcp.Transport.
func (r *remote) Connect(ctx context.Context) (mcp.Connection, error) {
	if r.endpoint == nil {
		return nil, errors.New("its url is no address")
	}
	sdk := &mcp.StreamableClientTransport{
		Endpoint:     r.endpoint.String(),
		HTTPClient:   &http.Client{Transport: r, CheckRedirect: checkRedirect},
		MaxEventSize: r.limit,
	}
	conn, err := sdk.Connect(ctx)
	r.mu.Lock()
	r.conn = conn
	r.mu.Unlock()
	return conn, err
}

// close ends the session politely, unless killing says that there is no time, and then all requests.
func (r *remote) close(killing <-chan struct{}) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.closeConn()
	}()
	select {
	case <-closed:
	case <-killing:
	}
	r.cancel()
	<-closed
	r.base.CloseIdleConnections()
}

// cut ends all requests and the session at once.
func (r *remote) cut() {
	r.cancel()
	r.closeConn()
}

func (r *remote) closeConn() {
	r.mu.Lock()
	conn := r.conn
	r.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// redirected says that an endpoint answers with a redirect that isn't followed.
type redirected struct{ to string }

func (e *redirected) Error() string {
	return "it redirects to " + e.to + "; if that is right, put that address into its url"
}

// checkRedirect follows only what keeps the host and the request: another host must get neither the
// headers nor what is sent to tools, and after 301 to 303 nothing would be sent at all.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || next.Method != first.Method || next.URL.Host != first.URL.Host || next.URL.Scheme != first.URL.Scheme {
		return &redirected{next.URL.Scheme + "://" + next.URL.Host + next.URL.Path}
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(r.ctx, cancel)
	done := func() { stop(); cancel() }
	request = request.Clone(ctx)
	r.addHeaders(request)
	switch request.Method {
	case http.MethodGet:
		return r.listen(request, done), nil
	case http.MethodDelete:
		timer := time.AfterFunc(deleteLimit, cancel)
		defer timer.Stop()
	}
	response, err := r.send(request)
	if err != nil {
		done()
		return nil, err
	}
	response.Body = r.bounded(response, done)
	r.mend(request, response)
	return response, nil
}

// addHeaders adds the configured headers, which are for the endpoint's host alone.
func (r *remote) addHeaders(request *http.Request) {
	if request.URL.Host != r.endpoint.Host {
		return
	}
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
}

// send makes a request and tells errors apart. It marks a call as sent unless it surely wasn't.
func (r *remote) send(request *http.Request) (*http.Response, error) {
	sent := markOf(request.Context())
	sent.set(true)
	response, err := r.base.RoundTrip(request)
	if err != nil {
		var network *net.OpError
		if errors.As(err, &network) && network.Op == "dial" {
			sent.set(false)
		}
		return nil, err
	}
	if request.Method != http.MethodPost || response.StatusCode >= 300 && response.StatusCode < 400 {
		return response, nil
	}
	if refused := refuses(request, response); refused != nil {
		sent.set(!refused.unknownSession)
		return nil, refused
	}
	return response, nil
}

// isStream reports whether an answer is a stream of events.
func isStream(response *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(response.Header.Get("Content-Type")), "text/event-stream")
}

// bounded is the body of an answer: of a stream the SDK bounds the events one by one.
func (r *remote) bounded(response *http.Response, done func()) *body {
	b := &body{ReadCloser: response.Body, limit: r.limit, left: r.limit, done: done}
	if isStream(response) {
		b.left = -1
	}
	return b
}

// body is a bounded body. left is how many bytes may still be read; negative is any number.
type body struct {
	io.ReadCloser
	limit, left int
	done        func() // called by Close
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return b.ReadCloser.Read(p)
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		b.left = 0
		return 0, tooLong(b.limit)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}
