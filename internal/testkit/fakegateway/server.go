package fakegateway

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// limit is when a test that waits has failed: far beyond what a slow machine needs.
const limit = time.Minute

// Options steer a server as a whole.
type Options struct {
	// Memory connects by pipes within the process: Dial is the only way in, and URL names no host.
	Memory bool
}

// Object is a JSON object.
type Object = map[string]any

// Request is one that came.
type Request struct {
	Method, Path string // the path as it was escaped
	Query        map[string]string
	Header       http.Header
	Token        string // the bearer
	Body         string
}

// Failure is what a path answers instead of its own.
type Failure struct {
	Status   int
	Body     string // JSON or not; empty is a detail
	Location string // of a redirect
	// Wait comes before the answer. With Status 0 the path then answers as usual.
	Wait time.Duration
	// Hang never answers.
	Hang bool
	// Drop breaks the connection without an answer.
	Drop bool
}

// Server is a running fake.
type Server struct {
	URL             string
	Email, Password string // of its one user
	UserID          string

	t        testing.TB
	http     http.Server
	pipes    *pipes // nil over TCP
	closed   chan struct{}
	mu       sync.Mutex
	changed  *sync.Cond
	agents   []Object
	logs     []Object
	talks    []Object
	requests []Request
	failures map[string][]Failure
	sessions sessions
	runs     map[string]bool // conversations that run without a stream, by id
	away     map[string]bool // those that run on another server
	stopped  []string
	streams  map[*stream]bool // under way
	broken   int              // streams whose client went away
}

// Start starts a server, which the test's end closes.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{
		Email: "ann@example.com", Password: "Passw0rd-5e1b7c-ö", UserID: "123",
		t: t, closed: make(chan struct{}), failures: map[string][]Failure{}, sessions: newSessions(),
		runs: map[string]bool{}, away: map[string]bool{}, streams: map[*stream]bool{},
		agents: defaultAgents(30), logs: defaultLogs(), talks: defaultConversations(),
	}
	s.changed = sync.NewCond(&s.mu)
	s.http.Handler = http.HandlerFunc(s.serve)
	listener := s.listen(o)
	go func() { _ = s.http.Serve(listener) }()
	t.Cleanup(s.Close)
	return s
}

func (s *Server) listen(o Options) net.Listener {
	if o.Memory {
		s.pipes = newPipes()
		s.URL = "http://gateway.test"
		return s.pipes
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.URL = "http://" + listener.Addr().String()
	return listener
}

// Dial connects to a server in memory, whatever the address.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) { return s.pipes.dial(ctx) }

// Close breaks all connections and waits for their handlers. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	s.WaitIdle()
}

// Fail adds an answer to those that a path gives next, one each, before it answers as usual.
func (s *Server) Fail(path string, failures ...Failure) {
	s.set(func() { s.failures[path] = append(s.failures[path], failures...) })
}

// Requests are those that came for a path, in order.
func (s *Server) Requests(path string) (found []Request) {
	s.set(func() {
		for _, r := range s.requests {
			if r.Path == path {
				found = append(found, r)
			}
		}
	})
	return found
}

// WaitActive waits until n chat streams are under way.
func (s *Server) WaitActive(n int) { s.wait(func() bool { return len(s.streams) == n }) }

// WaitIdle waits until no chat stream is under way.
func (s *Server) WaitIdle() { s.WaitActive(0) }

// WaitRequests waits until n requests for a path came.
func (s *Server) WaitRequests(path string, n int) {
	s.wait(func() bool {
		came := 0
		for _, r := range s.requests {
			if r.Path == path {
				came++
			}
		}
		return came >= n
	})
}

// Broken is how many chat streams lost their client.
func (s *Server) Broken() (n int) {
	s.set(func() { n = s.broken })
	return n
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.changed.Broadcast()
}

// wait waits for a condition; a test that waits longer than limit has failed.
func (s *Server) wait(until func() bool) {
	s.t.Helper()
	expired := false
	timer := time.AfterFunc(limit, func() { s.set(func() { expired = true }) })
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !until() {
		if expired {
			s.t.Fatalf("%d streams under way, %d requests came", len(s.streams), len(s.requests))
		}
		s.changed.Wait()
	}
}

// note keeps a request and returns the failure that it meets, if any.
func (s *Server) note(r Request) (failure *Failure) {
	s.set(func() {
		s.requests = append(s.requests, r)
		if waiting := s.failures[r.Path]; len(waiting) > 0 {
			failure, s.failures[r.Path] = &waiting[0], waiting[1:]
		}
	})
	return failure
}

func reply(w http.ResponseWriter, status int, body any) {
	text, _ := json.Marshal(body) // what the fake answers always encodes
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func refuse(w http.ResponseWriter, status int, detail string) {
	reply(w, status, Object{"detail": detail})
}

// body reads a request's body.
func body(r *http.Request) string {
	text, _ := io.ReadAll(r.Body)
	return string(text)
}
