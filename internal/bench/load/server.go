// Package load is a server that speaks llama-server's HTTP wire format and is far faster than any
// engine that reads from it: its frames are rendered once and written 60 KiB at a time.
//
// Each connection has one goroutine, which alone writes to it and closes it. The table of streams is
// shared under a lock. Close ends the listener and all connections; Serve returns when the last
// connection's goroutine has ended.
package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// StreamStats tells how one answer was sent. Times are clock.Now nanoseconds.
type StreamStats struct {
	Name     string `json:"name"`     // that the request gave it
	Tokens   int    `json:"tokens"`   // tokens handed to the kernel
	FirstAt  int64  `json:"first_at"` // before the first token was written
	LastAt   int64  `json:"last_at"`  // after the last token was written
	Complete bool   `json:"complete"` // the client took all of it
}

// Server answers chat completion requests on a loopback address.
type Server struct {
	listener net.Listener
	sent     atomic.Int64 // tokens, of all streams

	mu      sync.Mutex
	idle    sync.Cond
	running int
	streams []*StreamStats
	conns   map[net.Conn]struct{}
	closed  bool
	done    sync.WaitGroup
}

// Listen opens a port of 127.0.0.1 that the system chooses. The caller runs Serve and calls Close.
func Listen() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, conns: map[net.Conn]struct{}{}}
	s.idle.L = &s.mu
	return s, nil
}

// Address returns the host and port that clients connect to.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers connections until Close is called, and then returns nil.
func (s *Server) Serve() error {
	defer s.done.Wait()
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if !s.register(conn) {
			conn.Close()
			continue
		}
		s.done.Go(func() { s.serveConnection(conn) })
	}
}

// Close ends the listener and all connections. It is safe to call more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for conn := range s.conns {
		conn.Close()
	}
	s.idle.Broadcast()
	return s.listener.Close()
}

func (s *Server) register(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[conn] = struct{}{}
	}
	return !s.closed
}

func (s *Server) serveConnection(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	reader := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if err := s.answer(conn, r, body); err != nil || r.Close {
			return
		}
	}
}

func (s *Server) answer(conn net.Conn, r *http.Request, body []byte) error {
	switch r.Method + " " + r.URL.Path {
	case "GET /health", "GET /v1/health":
		return writeJSON(conn, http.StatusOK, `{"status":"ok"}`)
	case "GET /props":
		return writeJSON(conn, http.StatusOK, `{"default_generation_settings":{"n_ctx":4096},"total_slots":1024,`+
			`"model_alias":"bigram","model_path":"bigram.gguf","modalities":{"vision":false,"audio":false},"chat_template":"{{ messages }}"}`)
	case "GET /slots":
		return writeJSON(conn, http.StatusOK, s.slots())
	case "GET /v1/models", "GET /models":
		return writeJSON(conn, http.StatusOK, `{"object":"list","data":[{"id":"bigram","object":"model","owned_by":"llamacpp"}]}`)
	case "GET /bench/streams":
		return writeJSON(conn, http.StatusOK, s.finishedStreams(r.URL.Query().Get("count")))
	case "GET /bench/sent":
		return writeJSON(conn, http.StatusOK, strconv.FormatInt(s.sent.Load(), 10))
	case "POST /v1/chat/completions", "POST /chat/completions":
		return s.chat(conn, r.Close, body)
	}
	return writeError(conn, http.StatusNotFound, "File Not Found", "not_found_error")
}

func (s *Server) chat(conn net.Conn, closes bool, body []byte) error {
	asked, err := parseRequest(body)
	if err != nil {
		return writeError(conn, http.StatusBadRequest, err.Error(), "invalid_request_error")
	}
	asked.closes = closes
	stats := s.begin(asked.name)
	stream := streamer{conn: conn, request: asked, identity: newIdentity(), stats: stats, sent: &s.sent}
	err = stream.run()
	s.end(stats, err == nil)
	return err
}

// begin enters a stream. Until end, its statistics belong to the goroutine that sends it.
func (s *Server) begin(name string) *StreamStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	stats := &StreamStats{Name: name}
	s.streams = append(s.streams, stats)
	return stats
}

func (s *Server) end(stats *StreamStats, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Complete = complete
	s.running--
	s.idle.Broadcast()
}

// slots tells which slots work, in the order of llama-server's members.
func (s *Server) slots() string {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	answer := []byte{'['}
	for id := range max(4, running) {
		if id > 0 {
			answer = append(answer, ',')
		}
		answer = append(answer, `{"id":`...)
		answer = strconv.AppendInt(answer, int64(id), 10)
		answer = append(answer, `,"n_ctx":4096,"is_processing":`...)
		answer = append(strconv.AppendBool(answer, id < running), '}')
	}
	return string(append(answer, ']'))
}

// finishedStreams waits until at least count streams have begun and nothing is being sent, and
// returns the statistics of all streams. A count that is no number is 0.
func (s *Server) finishedStreams(count string) string {
	wanted, _ := strconv.Atoi(count)
	s.mu.Lock()
	defer s.mu.Unlock()
	for (s.running > 0 || len(s.streams) < wanted) && !s.closed {
		s.idle.Wait()
	}
	if s.running > 0 || len(s.streams) == 0 {
		return "[]"
	}
	answer, err := json.Marshal(s.streams)
	if err != nil {
		return "[]"
	}
	return string(answer)
}

func writeJSON(conn net.Conn, status int, body string) error {
	_, err := io.WriteString(conn, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+
		"\r\nServer: llama.cpp\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\n\r\n"+body)
	return err
}

func writeError(conn net.Conn, status int, message, kind string) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return writeJSON(conn, status, `{"error":{"code":`+strconv.Itoa(status)+`,"message":`+string(text)+`,"type":"`+kind+`"}}`)
}
