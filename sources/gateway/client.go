package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// callLimit and logoutLimit are the contract's time-outs of calls that are no stream.
	callLimit   = 30 * time.Second
	logoutLimit = 8 * time.Second
	// connectLimit bounds the connect and the TLS handshake each. headerLimit is how long a stream's first
	// byte may take: a gateway behind a buffering proxy sends none before its agent says something.
	connectLimit = 10 * time.Second
	headerLimit  = 2 * time.Minute
	// aliveInterval and aliveLimit find out that the other end of a silent stream is gone: a connection
	// is probed after such a silence and given up when nothing answers; over TCP that is three times.
	aliveInterval = 30 * time.Second
	aliveLimit    = 15 * time.Second
	// readBuffer is what a stream's connection reads at once, in bytes.
	readBuffer = 64 << 10
	// maxHeaderBytes bounds the headers of an answer.
	maxHeaderBytes = 256 << 10
)

// Options change how a Client works; the zero value is the default.
type Options struct {
	// Dial makes connections; nil is TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy says which proxy a request takes, if any; nil asks the environment (HTTPS_PROXY, HTTP_PROXY,
	// NO_PROXY). It is never asked for this machine.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is how servers are verified; nil is the system's authorities.
	TLS *tls.Config
	// UserAgent names us to the gateway; empty is "sluice".
	UserAgent string
	// Logger takes a line for each call at debug; nil discards.
	Logger *slog.Logger
}

// Client is the HTTP client that all profiles share.
type Client struct {
	http      *http.Client
	userAgent string
	logger    *slog.Logger
}

// NewClient returns a Client. Whoever made it closes it.
func NewClient(o Options) *Client {
	if o.UserAgent == "" {
		o.UserAgent = "sluice"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{
		http: &http.Client{
			Transport: newTransport(o),
			// A redirect is shown, never followed: the token must not go where nobody sent it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		userAgent: o.UserAgent,
		logger:    o.Logger,
	}
}

func newTransport(o Options) *http.Transport {
	if o.Dial == nil {
		probes := net.KeepAliveConfig{Enable: true, Idle: aliveInterval, Interval: aliveLimit, Count: 3}
		dialer := net.Dialer{Timeout: connectLimit, KeepAliveConfig: probes}
		o.Dial = dialer.DialContext
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		DialContext:            o.Dial,
		Proxy:                  neverForLoopback(o.Proxy),
		OnProxyConnectResponse: proxyRefused,
		TLSClientConfig:        o.TLS.Clone(),
		TLSHandshakeTimeout:    connectLimit,
		ResponseHeaderTimeout:  headerLimit,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    16,
		ReadBufferSize:         readBuffer,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: aliveInterval, PingTimeout: aliveLimit},
	}
}

// neverForLoopback keeps calls to this machine away from every proxy.
func neverForLoopback(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if isLoopback(r.URL.Hostname()) {
			return nil, nil
		}
		address, err := proxy(r)
		if err != nil {
			return nil, errProxy
		}
		return address, nil
	}
}

// proxyRefused stands in for net/http's error of a proxy that opens no tunnel.
func proxyRefused(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return errProxy
	}
	return nil
}

// errProxy stands in for errors that may repeat a proxy's address, which may hold a password.
var errProxy = errors.New("the proxy can't be used")

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// Close closes the connections that no call uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }
