package llama

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// Some servers repeat a key that they refuse.
func TestNoMessageRepeatsTheKey(t *testing.T) {
	const key = "sk-0123456789abcdef"
	body := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(connection, text)
			_ = connection.Close()
		}
	}
	cut := strings.Repeat("x", longestExcerpt-10) // an excerpt ends within the key
	for name, handler := range map[string]http.HandlerFunc{
		"error object":      body(401, `{"error":{"message":"wrong key: `+key+`"}}`),
		"error of no form":  body(401, `{"error":"wrong key: `+key+`"}`),
		"text":              body(500, "wrong key: "+key),
		"cut":               body(500, cut+key),
		"cut error object":  body(401, `{"error":{"message":"`+cut+key+`"}}`),
		"error in a stream": sent(event(`{"error":{"message":"` + key + `"}}`)),
		"not JSON":          sent(event(cut + key)),
		"not HTTP":          raw("HTTP/1.1 " + key + "\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.route("/v1/chat/completions", handler)
				s, closeBoth := m.attach(t, ServerOptions{APIKey: key})
				defer closeBoth()
				lease := acquire(t, s)
				defer lease.Release()
				stream := lease.Stream("m", &wire.ModelRequest{})
				stream.next = &collector{}
				err := stream.Run(t.Context())
				wantFault(t, err, wire.CodeInternal)
				if strings.Contains(err.Error(), key[:9]) {
					t.Errorf("the message tells the key: %v", err)
				}
			})
		})
	}
}
