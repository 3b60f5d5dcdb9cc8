package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestAnswersThatAreNone(t *testing.T) {
	for body, words := range map[string][]string{
		"":                             {"nothing"},
		" \n<!doctype html><p>Sign in": {"web page", "serverUrl"},
		"[1]":                          {"JSON"},
		"{":                            {"JSON"},
		strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600): {"JSON"},
		`{"a":"` + strings.Repeat("x", maxAnswerBytes) + `"}`:         {"larger than 16 MiB", "administrator"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		err := conversations(t, Options{}, server.URL)
		server.Close()
		status := 200
		if len(body) > maxAnswerBytes {
			status = 0
		}
		wantFault(t, err, wire.CodeNetwork, status, words...)
		if strings.Contains(err.Error(), "can't be reached") {
			t.Errorf("%s: something answered", err)
		}
	}
}

// TestHeadersThatAreTooLarge are told from a connection that was lost, for calls and streams alike.
func TestHeadersThatAreTooLarge(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := 1000
		if r.ProtoMajor == 2 {
			size += 36 // each counts 32 more; what is far larger is a broken connection there
		}
		for i := range maxHeaderBytes/size + 2 {
			w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
		}
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = discard
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	plain := httptest.NewServer(server.Config.Handler)
	defer plain.Close()
	for _, address := range []string{server.URL, plain.URL} {
		o := Options{TLS: &tls.Config{RootCAs: roots}}
		client := NewClient(o)
		defer client.Close()
		stream := client.Account(address, &heldSession{access: secretToken}).OpenChat(ChatRequest{Input: `""`})
		stream.next = &collector{}
		for _, err := range []error{conversations(t, o, address), stream.Run(t.Context())} {
			wantFault(t, err, wire.CodeNetwork, 0, "headers of more than 256 KiB")
			if strings.Contains(err.Error(), "can't be reached") {
				t.Errorf("%s: something answered", err)
			}
		}
	}
}

// TestChatsThatAreAnsweredOtherwise than with a stream.
func TestChatsThatAreAnsweredOtherwise(t *testing.T) {
	for _, c := range []struct{ kind, body, says string }{
		{"text/html", "<html>", "with a web page instead of an event stream"},
		{"application/json", "", "with nothing instead of an event stream"},
		{"application/json", `{"detail":"not today"}`, "with something else instead of an event stream: not today"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = io.WriteString(w, c.body)
		}))
		client := NewClient(Options{})
		stream := client.Account(server.URL, &heldSession{access: secretToken}).OpenChat(ChatRequest{Input: `""`})
		stream.next = &collector{}
		wantFault(t, stream.Run(t.Context()), wire.CodeNetwork, 200, c.says)
		client.Close()
		server.Close()
	}
}
