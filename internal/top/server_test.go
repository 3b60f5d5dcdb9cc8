package top

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// fakeEngine is a debug server whose counters move on with every question.
type fakeEngine struct {
	*httptest.Server
	address string

	mu     sync.Mutex
	asked  int
	pid    int    // of what answers
	token  string // that is wanted
	tokens []string
}

func newFakeEngine(t *testing.T) *fakeEngine {
	t.Helper()
	e := &fakeEngine{pid: 4711}
	e.Server = httptest.NewServer(e)
	e.address = strings.TrimPrefix(e.URL, "http://")
	t.Cleanup(e.Close)
	return e
}

// ServeHTTP implements http.Handler.
func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	given := r.Header.Get("Authorization")
	e.tokens = append(e.tokens, given)
	switch {
	case r.Method != http.MethodGet || r.RequestURI != "/stats":
		http.NotFound(w, r)
	case e.token != "" && given != "Bearer "+e.token:
		http.Error(w, "no", http.StatusUnauthorized)
	default:
		e.asked++
		_, _ = w.Write(counters{
			"pid": e.pid, "uptime_ms": 60_000 + 500*e.asked, "written": counters{"frames": 100 * e.asked, "bytes": 0, "batches": 0},
		}.json())
	}
}

// set changes the engine while it is asked.
func (e *fakeEngine) set(change func(*fakeEngine)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e)
}

func (e *fakeEngine) client(t *testing.T, token string) *Client {
	t.Helper()
	c := NewClient(e.address, token)
	t.Cleanup(c.Close)
	return c
}

// nobody returns an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// speaking returns the address of a server that says the same to everybody.
func speaking(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			fmt.Fprint(conn, text)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}
