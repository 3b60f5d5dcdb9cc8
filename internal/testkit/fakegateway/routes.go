package fakegateway

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The paths of the gateway.
const (
	PathLogin         = "/api/auth/login"
	PathValidate      = "/api/auth/validate-token"
	PathRefresh       = "/api/auth/refresh"
	PathLogout        = "/api/auth/logout"
	PathAgents        = "/api/agentflow/list/detail"
	PathChat          = "/api/agentflow/execute/based-id/stream"
	PathStop          = "/api/agentflow/execute/stop/" // and the conversation's id
	PathConversations = "/api/interaction/list"
	PathLogs          = "/api/chat/io-logs"
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	text := body(r)
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	query := map[string]string{}
	for name, values := range r.URL.Query() {
		query[name] = values[0]
	}
	path := r.URL.EscapedPath()
	failure := s.note(Request{r.Method, path, query, r.Header.Clone(), token, text})
	if failure != nil && s.fail(w, r, *failure) {
		return
	}
	if s.signIn(w, path, text) {
		return
	}
	if !s.valid(token) {
		refuse(w, http.StatusUnauthorized, "invalid or expired token")
		return
	}
	switch {
	case path == PathAgents:
		s.listAgents(w, query)
	case path == PathChat && r.Method == http.MethodPost:
		s.chat(w, r, text)
	case strings.HasPrefix(path, PathStop) && r.Method == http.MethodPost:
		id, _ := url.PathUnescape(strings.TrimPrefix(path, PathStop))
		s.stop(w, id)
	case path == PathConversations:
		reply(w, http.StatusOK, Object{"execution_meta_list": s.conversations()})
	case path == PathLogs:
		s.listLogs(w, query)
	default:
		refuse(w, http.StatusNotFound, "Not Found")
	}
}

// fail answers as a failure says; it reports whether it has answered.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Failure) bool {
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Hang:
		s.hang(r)
		return true
	case f.Wait > 0:
		s.pause(r, f.Wait)
	}
	if f.Status == 0 {
		return false
	}
	if f.Location != "" {
		w.Header().Set("Location", f.Location)
	}
	if f.Body == "" {
		refuse(w, f.Status, "refused for the test")
		return true
	}
	if strings.HasPrefix(f.Body, "<") {
		w.Header().Set("Content-Type", "text/html")
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body)
	return true
}

// pause waits, less when the client goes or the server closes.
func (s *Server) pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// hang waits until the client goes or the server closes.
func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}
