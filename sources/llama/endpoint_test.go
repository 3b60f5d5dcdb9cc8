package llama

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestHandshakeIsBounded meets what an https address finds where plain HTTP is spoken: both wait.
func TestHandshakeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		e := Endpoint{BaseURL: "https://llama", Client: newClient(func(context.Context) (net.Conn, error) { return ours, nil })}
		start := time.Now()
		if _, _, err := e.get(t.Context(), "/props", "", maxProbeBody); err == nil {
			t.Error("a server that never said anything answered")
		}
		if took := time.Since(start); took != dialTimeout {
			t.Errorf("it took %s, want %s", took, dialTimeout)
		}
	})
}
