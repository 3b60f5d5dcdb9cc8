package observe

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// guard lets only those in who may see the engine: with a token who knows it, without one who names
// this machine as the host. A page in a browser that has its own name point to this machine (DNS
// rebinding) names another.
func guard(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case token != "" && !knows(r, token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this endpoint wants the debug.token of the configuration: send it as a bearer token", http.StatusUnauthorized)
		case token == "" && !local(r.Host):
			http.Error(w, "without debug.token this endpoint answers only to localhost and loopback addresses", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func knows(r *http.Request, token string) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// local reports whether a Host header names this machine.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
