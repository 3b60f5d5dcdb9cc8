package llama

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice/internal/wire"
)

// Endpoint is where a ready server answers. It is safe for concurrent use.
type Endpoint struct {
	// BaseURL has no slash at its end. For a Unix socket or a dialer its host is only a name.
	BaseURL string
	// Client has no overall timeout and follows no redirect.
	Client *http.Client
	// Key is the bearer key; empty for none.
	Key string
	// Model is sent as model.
	Model string
}

const (
	// readBuffer is what gathers the small chunks of a slow stream. Of a fast one's large chunks most
	// goes past it, straight into the stream's own buffer, so that more than 16 KiB made nothing faster
	// and each of many streams larger.
	readBuffer = 16 << 10
	// idleConnections is how many connections are kept for the next chats.
	idleConnections = 64
	// idleTime is below the 5 s after which llama-server closes an idle connection (cpp-httplib's
	// keep-alive timeout), so that no request meets a connection that is just being closed.
	idleTime = 4 * time.Second
	// dialTimeout bounds a connection's set-up.
	dialTimeout = 10 * time.Second
)

type dialFunc func(context.Context) (net.Conn, error)

// newClient returns a client that connects by dial, or by the URL's host and the proxy settings of the
// environment when dial is nil. Those never apply to loopback hosts.
func newClient(dial dialFunc) *http.Client {
	transport := &http.Transport{
		ReadBufferSize:      readBuffer,
		DisableCompression:  true,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     idleTime,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		Proxy:               http.ProxyFromEnvironment,
	}
	if dial != nil {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	}
	return &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
}

// refuseRedirect keeps keys and prompts from following a redirect elsewhere.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func dialUnix(path string) dialFunc {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", path)
	}
}

func dialTCP(address string) dialFunc {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	}
}

// attachEndpoint reads where to attach to; name is how messages call it, without a password.
func attachEndpoint(o ServerOptions) (e Endpoint, name string, fault *wire.Fault) {
	e = Endpoint{Key: o.APIKey, Model: o.ModelName}
	if o.Dial != nil {
		e.BaseURL, e.Client = "http://demo", newClient(o.Dial)
		return e, "the embedded model", nil
	}
	address, err := url.Parse(o.URL)
	switch {
	case err == nil && address.Scheme == "unix" && address.Host == "" && strings.HasPrefix(address.Path, "/"):
		e.BaseURL, e.Client = "http://llama", newClient(dialUnix(address.Path))
	case err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != "":
		e.BaseURL, e.Client = strings.TrimRight(o.URL, "/"), newClient(nil)
	default:
		return e, "", wire.NewFault(wire.CodeInternal, "llama_server.url is neither http(s)://host:port nor unix:///path.sock; correct it")
	}
	return e, address.Redacted(), nil
}

// get asks one route on a connection of its own, which is not kept: an idle connection would occupy
// one of llama-server's few threads. The body is cut after limit bytes.
func (e Endpoint) get(ctx context.Context, route, key string, limit int64) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.BaseURL+route, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Close = true
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := e.Client.Do(request)
	if err != nil {
		return 0, nil, e.plainError(err)
	}
	defer response.Body.Close()
	body, err = readLimited(response.Body, limit)
	return response.StatusCode, body, err
}

// post sends a JSON body on one of the connections that chats use, and returns the answer, cut after
// limit bytes. An error repeats neither the key nor the address.
func (e Endpoint) post(ctx context.Context, route string, body []byte, limit int64) (status int, answer []byte, err error) {
	request, err := e.newPost(ctx, route, body)
	if err != nil {
		return 0, nil, err
	}
	response, err := e.Client.Do(request)
	if err != nil {
		return 0, nil, e.plainError(err)
	}
	defer response.Body.Close()
	answer, err = readLimited(response.Body, limit)
	if err != nil {
		err = e.plainError(err)
	}
	return response.StatusCode, answer, err
}

// newPost returns a request with a JSON body and the key.
func (e Endpoint) newPost(ctx context.Context, route string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.BaseURL+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	// Not sent: an empty value tells net/http that the request may be repeated when a connection that
	// was kept from an earlier chat turns out to be dead (net/http, Transport).
	request.Header["Idempotency-Key"] = []string{}
	if e.Key != "" {
		request.Header.Set("Authorization", "Bearer "+e.Key)
	}
	return request, nil
}

// plainError takes the method and the URL off an error of net/http, and the key, since it may repeat
// what the server sent.
func (e Endpoint) plainError(err error) error {
	if located, ok := err.(*url.Error); ok {
		err = located.Err
	}
	if text := err.Error(); hideKey(text, e.Key) != text {
		return errors.New(hideKey(text, e.Key))
	}
	return err
}

func startFault(format string, args ...any) *wire.Fault {
	return wire.NewFault(wire.CodeInternal, fmt.Sprintf(format, args...))
}
