package top

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func TestClientReadsTheCounters(t *testing.T) {
	e := newFakeEngine(t)
	s, err := e.client(t, "").Snapshot(t.Context())
	if err != nil || s.PID != 4711 || s.Written.Frames != 100 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestClientSendsTheToken(t *testing.T) {
	e := newFakeEngine(t)
	e.token = "swordfish"
	if _, err := e.client(t, "swordfish").Snapshot(t.Context()); err != nil {
		t.Error(err)
	}
	for _, token := range []string{"", "wrong"} {
		_, err := e.client(t, token).Snapshot(t.Context())
		if line := Explain(err, e.address); !errors.Is(err, ErrToken) || !strings.Contains(line, "SLUICE_DEBUG_TOKEN") || strings.Contains(line, "wrong") && token != "" {
			t.Errorf("with %q: %v, said as %q", token, err, line)
		}
	}
}

// A redirection would take the token elsewhere.
func TestClientFollowsNoRedirection(t *testing.T) {
	elsewhere := newFakeEngine(t)
	from := speaking(t, "HTTP/1.1 302 Found\r\nLocation: "+elsewhere.URL+"/stats\r\nContent-Length: 0\r\n\r\n")
	c := NewClient(from, "swordfish")
	defer c.Close()
	if _, err := c.Snapshot(t.Context()); !errors.Is(err, errForeign) || len(elsewhere.tokens) != 0 {
		t.Errorf("got %v, and %q went elsewhere", err, elsewhere.tokens)
	}
}

func TestWhatIsNoEngineIsSaid(t *testing.T) {
	page := func(status int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	}
	for name, c := range map[string]struct {
		address string
		want    error
		word    string
	}{
		"nobody":          {nobody(t), ErrGone, "no engine answers"},
		"ends at once":    {speaking(t, ""), ErrGone, "no engine answers"},
		"not HTTP":        {speaking(t, "220 mail.example ESMTP\r\n"), errForeign, "no engine of Sluice"},
		"a web page":      {speaking(t, page(200, "<html>")), errForeign, "no engine of Sluice"},
		"other JSON":      {speaking(t, page(200, `{"status":"ok"}`)), errForeign, "no engine of Sluice"},
		"wrong types":     {speaking(t, page(200, `{"uptime_ms":"1","queue":{},"written":{}}`)), errForeign, "no engine of Sluice"},
		"not found":       {speaking(t, page(404, "")), errForeign, "no engine of Sluice"},
		"an answer's end": {speaking(t, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), ErrGone, "no engine answers"},
	} {
		t.Run(name, func(t *testing.T) {
			client := NewClient(c.address, "")
			defer client.Close()
			_, err := client.Snapshot(t.Context())
			if line := Explain(err, c.address); !errors.Is(err, c.want) || !strings.Contains(line, c.word) || !strings.Contains(line, c.address) || strings.Contains(line, "\n") {
				t.Errorf("got %v, said as %q", err, line)
			}
		})
	}
}

// TestSilenceEnds uses a connection in memory, for the time to be a fake one.
func TestSilenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := NewClient("127.0.0.1:1", "")
		defer c.Close()
		c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		go func() { _, _ = theirs.Read(make([]byte, 4096)) }()
		_, err := c.Snapshot(t.Context())
		if line := Explain(err, "127.0.0.1:1"); !errors.Is(err, ErrSlow) || !strings.Contains(line, "2.0 s") {
			t.Errorf("got %v, said as %q", err, line)
		}
	})
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", "80": "127.0.0.1:80", ":80": "127.0.0.1:80", "[::1]:80": "[::1]:80", "localhost:8080": "localhost:8080",
		"http://127.0.0.1:80": "127.0.0.1:80", "http://127.0.0.1:80/stats?x=1": "127.0.0.1:80",
		"": "", "bogus": "", "host:": "", "host:0": "", "host:70000": "", "::1": "", "https://host:80": "", "user@host:80": "", "http://u:p@host:80": "", "ho st:80": "", "host:80/x": "", "\x1b[2J": "",
	} {
		got, err := ParseAddress(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: the error is %q", text, err)
		}
	}
}
