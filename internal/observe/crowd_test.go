package observe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestCrowd: clients that say nothing take a bounded number of the engine's descriptors, and those that
// leave make room.
func TestCrowd(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	addr := strings.TrimPrefix(e.url, "http://")
	silent := make([]net.Conn, maxConnections)
	for i := range silent {
		silent[i] = dial(t, addr)
		if _, err := io.WriteString(silent[i], "GET /stats HTTP/1.1\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "all are there", func() bool { return e.server.crowd.open.Load() == maxConnections })
	one := dial(t, addr)
	if n, err := one.Read(make([]byte, 1)); err == nil {
		t.Errorf("one too many was told %d bytes", n)
	}
	await(t, "it is gone", func() bool { return e.server.crowd.open.Load() == maxConnections })
	silent[0].Close()
	await(t, "there is room", func() bool { return e.server.crowd.open.Load() < maxConnections })
	if status, body := e.get("/stats", nil); status != http.StatusOK {
		t.Errorf("then %d: %s", status, body)
	}
}

// TestLargeHeader is refused before it takes memory.
func TestLargeHeader(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	status, _ := e.get("/stats", func(r *http.Request) { r.Header.Set("X", strings.Repeat("a", 2*maxHeaderBytes)) })
	if status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %d", status)
	}
	// the server leaves the client half a second to read that
	await(t, "its connection is gone", func() bool { return e.server.crowd.open.Load() == 0 })
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}
