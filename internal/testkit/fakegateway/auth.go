package fakegateway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"
)

// sessions are the tokens of a server; the server's lock guards them.
type sessions struct {
	access  map[string]bool // valid ones
	stale   map[string]bool // those that a refresh has revoked, or that expired
	refresh map[string]bool
	issued  []string // of both kinds, in order
	// loginStatus is what a refused login answers: 401, 403, or 200 with success:false.
	loginStatus int
	// rotates says that validate-token brings a new token for a stale one.
	rotates bool
}

func newSessions() sessions {
	return sessions{access: map[string]bool{}, stale: map[string]bool{}, refresh: map[string]bool{}, loginStatus: http.StatusUnauthorized, rotates: true}
}

// Expire makes every access token invalid, with refresh also the refresh tokens.
func (s *Server) Expire(refresh bool) {
	s.set(func() {
		s.sessions.revoke()
		if refresh {
			clear(s.sessions.refresh)
		}
	})
}

// RefuseLogins sets the status that refused logins answer: 401, 403, or 200.
func (s *Server) RefuseLogins(status int) { s.set(func() { s.sessions.loginStatus = status }) }

// KeepTokens makes validate-token refuse a stale token instead of replacing it.
func (s *Server) KeepTokens() { s.set(func() { s.sessions.rotates = false }) }

// Issued are all tokens so far, in the order in which they were given.
func (s *Server) Issued() (tokens []string) {
	s.set(func() { tokens = append(tokens, s.sessions.issued...) })
	return tokens
}

// Secrets are what nobody but the gateway and the keychain may see.
func (s *Server) Secrets() []string {
	return append(s.Issued(), "Passw0rd-5e1b7c", hashed(s.Password))
}

// SignIn gives a session without a login.
func (s *Server) SignIn() (access, refresh string) {
	s.set(func() { access, refresh = s.sessions.begin() })
	return access, refresh
}

func (s *Server) valid(token string) (valid bool) {
	s.set(func() { valid = s.sessions.access[token] })
	return valid
}

// signIn answers the calls that need no session; it reports whether path is one of them.
func (s *Server) signIn(w http.ResponseWriter, path, text string) bool {
	member := func(name string) string { return gjson.Get(text, name).String() }
	var answer Object // of a call that needs no session
	status := http.StatusOK
	s.set(func() {
		switch path {
		case PathLogin:
			status, answer = s.login(member("email"), member("password"))
		case PathValidate:
			answer = s.validate(member("token"), member("refresh_token"))
		case PathRefresh:
			answer = s.sessions.rotate(member("refresh_token"))
		case PathLogout:
			delete(s.sessions.access, member("token"))
			answer = Object{"success": true}
		}
	})
	if answer != nil {
		reply(w, status, answer)
	}
	return answer != nil
}

func (s *Server) login(email, password string) (int, Object) {
	if email != s.Email || password != hashed(s.Password) {
		return s.sessions.loginStatus, Object{"success": false, "message": "wrong email or password", "access_token": nil, "refresh_token": nil}
	}
	access, refresh := s.sessions.begin()
	return http.StatusOK, Object{
		"success": true, "message": "ok", "access_token": access, "refresh_token": refresh,
		"token_type": "bearer", "user_id": s.UserID, "username": "ann",
	}
}

func (s *Server) validate(token, refresh string) Object {
	var fresh any
	if s.sessions.stale[token] && s.sessions.rotates && s.sessions.refresh[refresh] {
		fresh = s.sessions.rotate(refresh)["access_token"]
	}
	if fresh == nil && !s.sessions.access[token] {
		return Object{"valid": false, "new_access_token": nil}
	}
	answer := Object{
		"valid": true, "user_id": s.UserID, "username": "ann", "is_superuser": false,
		"roles": []string{"developer"}, "permissions": []string{"main.agentflow:read"},
	}
	if fresh != nil {
		answer["new_access_token"] = fresh
	}
	return answer
}

// rotate gives a new access token, which revokes those before it.
func (s *sessions) rotate(refresh string) Object {
	if !s.refresh[refresh] {
		return Object{"success": false, "message": "invalid refresh token", "access_token": nil}
	}
	s.revoke()
	return Object{"success": true, "access_token": s.issue("access", s.access), "token_type": "bearer"}
}

func (s *sessions) revoke() {
	for token := range s.access {
		s.stale[token] = true
	}
	clear(s.access)
}

func (s *sessions) begin() (access, refresh string) {
	return s.issue("access", s.access), s.issue("refresh", s.refresh)
}

// issue makes a token that no other text is likely to hold.
func (s *sessions) issue(kind string, among map[string]bool) string {
	token := fmt.Sprintf("eyJ.%s-%06d-7f3a91c2e5", kind, len(s.issued))
	among[token] = true
	s.issued = append(s.issued, token)
	return token
}

func hashed(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}
