package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// answerTimeout bounds one question; an engine answers within milliseconds however busy it is.
	answerTimeout = 2 * time.Second
	// maxAnswerBytes bounds an answer: ids are as long as hosts make them.
	maxAnswerBytes = 64 << 20
)

// What a question can fail with, besides errForeign.
var (
	// ErrGone says that nothing listens at the address.
	ErrGone = errors.New("nothing listens there")
	// ErrSlow says that an answer didn't come in time.
	ErrSlow = errors.New("no answer in time")
	// ErrToken says that the engine wants a token, or another one.
	ErrToken = errors.New("a token is wanted")
)

// Client asks the debug server of one engine.
type Client struct {
	address, token string
	http           *http.Client
}

// NewClient returns a client of the debug server at host:port. token, when not empty, is sent to
// that address alone: a redirection is not followed, and no proxy is asked.
func NewClient(address, token string) *Client {
	return &Client{address, token, &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Address returns the host:port that is asked.
func (c *Client) Address() string { return c.address }

// Close lets go of the connection. Nothing may be asked any more.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Snapshot asks for the counters. Its error is of ErrGone, ErrSlow, ErrToken, that the answer is no
// engine's, or ctx.
func (c *Client) Snapshot(ctx context.Context) (*Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, ErrSlow)
	defer cancel()
	text, err := c.get(ctx)
	switch {
	case err == nil:
		return ParseSnapshot(text)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, err
}

func (c *Client) get(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+"/stats", nil)
	if err != nil {
		return nil, errForeign
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, connectionError(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return readAnswer(response.Body)
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, ErrToken
	}
	return nil, errForeign
}

func readAnswer(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswerBytes+1))
	if err != nil {
		return nil, connectionError(err)
	}
	if len(text) > maxAnswerBytes {
		return nil, errForeign
	}
	return text, nil
}

// connectionError tells apart that nothing listens, that nothing comes, and that what comes is no
// HTTP. A connection that ends without an answer is what an engine leaves that ends just then.
func connectionError(err error) error {
	var operation *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrSlow
	case errors.As(err, &operation), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrGone
	}
	return errForeign
}

// Explain makes one line of an error of Snapshot that says what to do.
func Explain(err error, address string) string {
	switch {
	case errors.Is(err, ErrToken):
		return address + " wants its token: set SLUICE_DEBUG_TOKEN, or debug.token in the configuration"
	case errors.Is(err, ErrGone):
		return "no engine answers at " + address + ": it may have ended, or its debug.addr is another"
	case errors.Is(err, ErrSlow):
		return fmt.Sprintf("%s did not answer within %s: it may be stopped, or another program", address, span(answerTimeout))
	case errors.Is(err, errForeign):
		return "what answers at " + address + " is no engine of Sluice: name its debug.addr"
	}
	return err.Error()
}

// ParseAddress returns the host:port of what a person writes: host:port, a port alone, or the URL of
// the debug server.
func ParseAddress(text string) (string, error) {
	address := text
	if rest, ok := strings.CutPrefix(text, "http://"); ok {
		u, err := url.Parse(text)
		if err != nil || u.User != nil {
			return "", fmt.Errorf("%q is no address: write host:port", printable(rest))
		}
		address = u.Host
	}
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	number, bad := net.LookupPort("tcp", port)
	if err != nil || bad != nil || number == 0 || strings.ContainsAny(host, "/@?# ") {
		return "", fmt.Errorf("%q is no address: write host:port", printable(text))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(number)), nil
}
