package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

// conversations asks a server over any client.
func conversations(t *testing.T, o Options, server string) error {
	t.Helper()
	client := NewClient(o)
	defer client.Close()
	_, err := client.Account(server, &heldSession{access: secretToken}).Conversations(t.Context())
	if err != nil && strings.Contains(err.Error(), secretToken) {
		t.Errorf("the message holds the token: %s", err)
	}
	return err
}

const secretToken = "eyJ.very-secret-token"

func TestCallsThatGetNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		start := time.Now()
		w.Fail(fakegateway.PathConversations, fakegateway.Failure{Hang: true}, fakegateway.Failure{Drop: true}, fakegateway.Failure{Wait: 29 * time.Second})
		_, err := w.account.Conversations(t.Context())
		wantFault(t, err, wire.CodeNetwork, 0, "within 30s")
		_, err = w.account.Conversations(t.Context())
		wantFault(t, err, wire.CodeNetwork, 0, "connection was lost")
		if _, err = w.account.Conversations(t.Context()); err != nil || time.Since(start) != 59*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestCallsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		w.Fail(fakegateway.PathConversations, fakegateway.Failure{Hang: true})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := w.account.Conversations(ctx); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

// TestRedirectsAreNotFollowed: neither to another host, where the token must not go, nor on the same.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for location, shown := range map[string]string{
		other.URL + "/api/x?token=TOPSECRET":   other.URL + " ",
		"https://u:TOPSECRET@gate.example.com": "https://gate.example.com ",
		"/elsewhere":                           "another path",
		"":                                     "somewhere else",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{}, true)
				failure := fakegateway.Failure{Status: status, Location: location}
				w.Fail(fakegateway.PathConversations, failure)
				w.Fail(fakegateway.PathChat, failure)
				w.Fail(fakegateway.PathLogin, failure)
				_, err := w.account.Conversations(t.Context())
				_, loginErr := w.client.Login(t.Context(), w.URL, w.Email, w.Password)
				for _, err := range []error{err, loginErr, w.chat(t, t.Context(), "n=1", &collector{})} {
					wantFault(t, err, wire.CodeNetwork, status, "redirects to "+shown, "serverUrl")
					if strings.Contains(err.Error(), "TOPSECRET") {
						t.Error(err)
					}
				}
			})
		}
	}
	if reached.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestConnectionsThatFail(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	_ = listener.Close()
	wantFault(t, conversations(t, Options{}, closed), wire.CodeNetwork, 0, "refused")
	noName := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}
	}
	wantFault(t, conversations(t, Options{Dial: noName}, "http://x.invalid"), wire.CodeNetwork, 0, "name of its host")
	wantFault(t, conversations(t, Options{}, "http://x.invalid/\x7f"), wire.CodeNetwork, 0, "address can't be used")

	mail := serveText(t, "220 mail.example.com ready\r\n")
	wantFault(t, conversations(t, Options{}, "http://"+mail), wire.CodeNetwork, 0, "doesn't speak HTTP")
	wantFault(t, conversations(t, Options{}, "https://"+mail), wire.CodeNetwork, 0, "doesn't speak TLS")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	wantFault(t, conversations(t, Options{}, "https://"+strings.TrimPrefix(plain.URL, "http://")), wire.CodeNetwork, 0, "doesn't speak TLS", "http://")
}

// serveText is the address of a server that says something and hangs up.
func serveText(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestTLSIsVerifiedAndHTTP2Used(t *testing.T) {
	var version atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version.Store(int32(r.ProtoMajor))
		_, _ = io.WriteString(w, `{}`)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = discard
	server.StartTLS()
	defer server.Close()
	wantFault(t, conversations(t, Options{}, server.URL), wire.CodeNetwork, 0, "authority")
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	if err := conversations(t, Options{TLS: &tls.Config{RootCAs: roots}}, server.URL); err != nil || version.Load() != 2 {
		t.Errorf("%v over HTTP/%d", err, version.Load())
	}
	other := &tls.Config{RootCAs: roots, ServerName: "gate.example.org"}
	wantFault(t, conversations(t, Options{TLS: other}, server.URL), wire.CodeNetwork, 0, "another host")
	late := &tls.Config{RootCAs: roots, Time: func() time.Time { return server.Certificate().NotAfter.Add(time.Hour) }}
	wantFault(t, conversations(t, Options{TLS: late}, server.URL), wire.CodeNetwork, 0, "certificate isn't valid")
}

// TestStreamOverHTTP2BreaksOff: a lost stream is told from one that ended, there too.
func TestStreamOverHTTP2BreaksOff(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, frameOf(" a"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := NewClient(Options{TLS: &tls.Config{RootCAs: roots}})
	defer client.Close()
	stream := client.Account(server.URL, &heldSession{access: secretToken}).OpenChat(ChatRequest{Input: `""`})
	c := &collector{}
	stream.next = c
	wantFault(t, stream.Run(t.Context()), wire.CodeNetwork, 0, "connection was lost")
	if c.text.String() != " a" {
		t.Errorf("text %q", c.text.String())
	}
}

func TestProxies(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		_, _ = io.WriteString(w, `{"execution_meta_list":[]}`)
	}))
	defer proxy.Close()
	address, _ := url.Parse(proxy.URL)
	address.User = url.UserPassword("u", "TOPSECRET")
	use := Options{Proxy: http.ProxyURL(address)}
	if err := conversations(t, use, "http://gate.example.org"); err != nil || asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
	broken := Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("invalid proxy TOPSECRET") }}
	gone := Options{Proxy: http.ProxyURL(&url.URL{Scheme: "http", User: address.User, Host: "127.0.0.1:1"})}
	for _, o := range []Options{use, broken, gone} {
		err := conversations(t, o, "https://gate.example.org")
		wantFault(t, err, wire.CodeNetwork, 0, "proxy")
		if strings.Contains(err.Error(), "TOPSECRET") {
			t.Error(err)
		}
	}
	here := serveText(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	_, port, _ := net.SplitHostPort(here)
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST"} {
		if err := conversations(t, broken, "http://"+host+":"+port); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
