package fakellama

import (
	"encoding/json"
	"fmt"
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
	// Key is wanted as bearer of every request but /health. Empty: none.
	Key string
	// Socket listens on a Unix socket at this path. Empty: a loopback port.
	Socket string
	// ContextSize is how many tokens a slot holds, told at /props; a longer prompt is refused. A token
	// is a byte of the prompt. 0: /props doesn't tell, and any prompt fits.
	ContextSize int
	// NoCount leaves /apply-template and /tokenize out, as other servers do.
	NoCount bool
	// Embeddings answers /v1/embeddings.
	Embeddings bool
	// Loading answers 503 "Loading model" until Loaded is called.
	Loading bool
}

// Server is a running fake.
type Server struct {
	URL string

	t       testing.TB
	options Options
	http    http.Server
	closed  chan struct{}

	mu       sync.Mutex
	changed  *sync.Cond
	loading  bool
	healed   bool
	active   int            // answers under way
	most     int            // the most at once
	asked    int            // requests of any kind
	routes   map[string]int // requests by path
	finished []Answer
}

// Answer is what came of one chat completion.
type Answer struct {
	Request string // the body
	Sent    int    // tokens
	Whole   bool   // all of it was sent
}

// Start starts a server, which the test's end closes.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{t: t, options: o, loading: o.Loading, closed: make(chan struct{}), routes: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	network, address := "tcp", "127.0.0.1:0"
	if o.Socket != "" {
		network, address = "unix", o.Socket
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s.URL = "http://" + listener.Addr().String()
	if o.Socket != "" {
		s.URL = "unix://" + o.Socket
	}
	s.http.Handler = http.HandlerFunc(s.serve)
	go func() { _ = s.http.Serve(listener) }()
	t.Cleanup(s.close)
	return s
}

// close breaks all connections and waits for their handlers.
func (s *Server) close() {
	close(s.closed)
	_ = s.http.Close()
	s.WaitIdle()
}

// Loaded ends the loading of the model.
func (s *Server) Loaded() { s.set(func() { s.loading = false }) }

// Heal ends the faults: scripts that steer some are answered as if they steered none.
func (s *Server) Heal() { s.set(func() { s.healed = true }) }

// WaitBusy waits until at least n answers are under way at once.
func (s *Server) WaitBusy(n int) { s.wait(func() bool { return s.active >= n }) }

// WaitIdle waits until no answer is under way.
func (s *Server) WaitIdle() { s.wait(func() bool { return s.active == 0 }) }

// WaitAnswers waits until n answers have ended and returns all that have.
func (s *Server) WaitAnswers(n int) []Answer {
	s.wait(func() bool { return len(s.finished) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Answer(nil), s.finished...)
}

// WaitAsked waits until n requests of any kind came.
func (s *Server) WaitAsked(n int) { s.wait(func() bool { return s.asked >= n }) }

// Asked is how many requests for a path came.
func (s *Server) Asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.routes[path]
}

// Most is how many answers were under way at once at the most.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
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
			s.t.Fatalf("%d answers under way, %d ended, %d requests came", s.active, len(s.finished), s.asked)
		}
		s.changed.Wait()
	}
}

// serve checks as the real one does: loading first, then the key, which /health does without.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var loading bool
	s.set(func() { s.asked++; s.routes[r.URL.Path]++; loading = s.loading })
	key := s.options.Key
	switch {
	case loading:
		reply(w, http.StatusServiceUnavailable, failure("Loading model", "unavailable_error", 503))
	case key != "" && r.URL.Path != "/health" && r.Header.Get("Authorization") != "Bearer "+key:
		reply(w, http.StatusUnauthorized, failure("Invalid API Key", "authentication_error", 401))
	case r.URL.Path == "/v1/chat/completions":
		s.chat(w, r)
	case r.URL.Path == "/slots":
		s.slots(w)
	case r.URL.Path == "/health":
		reply(w, http.StatusOK, `{"status":"ok"}`)
	case r.URL.Path == "/props":
		s.props(w)
	case r.URL.Path == "/apply-template" && !s.options.NoCount:
		applyTemplate(w, r)
	case r.URL.Path == "/tokenize" && !s.options.NoCount:
		tokenize(w, r)
	case r.URL.Path == "/v1/embeddings":
		s.embeddings(w, r)
	default:
		reply(w, http.StatusNotFound, failure("File Not Found", "not_found_error", 404))
	}
}

func (s *Server) slots(w http.ResponseWriter) {
	s.mu.Lock()
	active := s.active
	s.mu.Unlock()
	slots := make([]map[string]any, max(4, active))
	for i := range slots {
		slots[i] = map[string]any{"id": i, "is_processing": i < active}
	}
	body, _ := json.Marshal(slots) // always encodes
	reply(w, http.StatusOK, string(body))
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var healed bool
	s.set(func() { s.active++; s.most = max(s.most, s.active); healed = s.healed })
	answer := Answer{}
	defer func() { s.set(func() { s.active--; s.finished = append(s.finished, answer) }) }()
	body, _ := io.ReadAll(r.Body)
	answer.Request = string(body)
	script := scriptOf(body)
	if healed {
		script.status, script.fault = 0, ""
	}
	prompt, room := len(promptOf(body)), s.room(script)
	switch {
	case script.status != 0:
		reply(w, script.status, failure("steered", "server_error", script.status))
		return
	case room > 0 && prompt > room:
		reply(w, http.StatusBadRequest, overflow(prompt, room))
		return
	}
	stream := stream{script: script, writer: w, context: r.Context(), closed: s.closed}
	answer.Whole = stream.run()
	answer.Sent = stream.sent
	if script.fault == "die" && !answer.Whole {
		panic(http.ErrAbortHandler)
	}
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func failure(message, kind string, code int) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"type":%q}}`, code, message, kind)
}
