package fakegateway

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// ask sends one request and returns the answer's status and body.
func ask(t *testing.T, s *Server, path, token, body string) (int, string, error) {
	t.Helper()
	transport := &http.Transport{}
	if s.pipes != nil {
		transport.DialContext = s.Dial
	}
	defer transport.CloseIdleConnections()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func chat(t *testing.T, s *Server, token, input string) (int, string, error) {
	t.Helper()
	return ask(t, s, PathChat, token, fmt.Sprintf(`{"interaction_id":"c","input_data":%q}`, input))
}

func TestARefreshRevokesTheTokenBefore(t *testing.T) {
	s := Start(t, Options{})
	login := func(password string) (int, string) {
		status, text, err := ask(t, s, PathLogin, "", fmt.Sprintf(`{"email":%q,"password":%q,"token":null}`, s.Email, hashed(password)))
		if err != nil {
			t.Fatal(err)
		}
		return status, text
	}
	if status, text := login("wrong"); status != 401 || !strings.Contains(text, "wrong email") {
		t.Errorf("%d %s", status, text)
	}
	_, text := login(s.Password)
	access, refresh := gjson.Get(text, "access_token").String(), gjson.Get(text, "refresh_token").String()
	if status, _, _ := ask(t, s, PathAgents, access, ""); status != 200 {
		t.Errorf("a new token answers %d", status)
	}
	_, text, _ = ask(t, s, PathRefresh, "", fmt.Sprintf(`{"refresh_token":%q}`, refresh))
	fresh := gjson.Get(text, "access_token").String()
	before, _, _ := ask(t, s, PathAgents, access, "")
	after, _, _ := ask(t, s, PathAgents, fresh, "")
	if before != 401 || after != 200 {
		t.Errorf("the old token answers %d, the new one %d", before, after)
	}
	s.Expire(false)
	_, text, _ = ask(t, s, PathValidate, "", fmt.Sprintf(`{"token":%q,"refresh_token":%q}`, fresh, refresh))
	if newer := gjson.Get(text, "new_access_token").String(); newer == "" || newer == fresh {
		t.Errorf("validate-token answers %s", text)
	}
	if !slices.Equal(s.Issued()[:3], []string{access, refresh, fresh}) || len(s.Requests(PathAgents)) != 3 {
		t.Errorf("issued %q, %d requests", s.Issued(), len(s.Requests(PathAgents)))
	}
}

func TestStreams(t *testing.T) {
	s := Start(t, Options{})
	token, _ := s.SignIn()
	for _, c := range []struct {
		input  string
		frames int // empty lines
		has    string
		broken bool
	}{
		{"n=3", 4, `{"type":"data","content":" w2"}`, false},
		{"n=3 crlf=1", 0, "data: {\"type\":\"end\"}\r\n\r\n", false},
		{"n=2 multi=1", 3, "data: {\ndata:  \"type\"", false},
		{"n=2 nosep=1 end=1", 2, `{"type":"end"}` + "\n", false},
		{"n=2 end=0", 2, " w1", false},
		{"n=2 tail=2", 5, " late1", false},
		{"n=9 die=4", 4, " w3", true},
		{"n=1 err=0 beat=1", 4, "node failed", false},
		{"n=1 nel=1", 2, "\u2028", false},
		{"n=1 uni=1 frag=1", 2, "🙂", false},
		{"n=1 uni=1 ascii=1", 2, `\ud83d\ude42`, false},
		{"n=1 spaces=1", 2, `{"type": "data", "content": " w0"}`, false},
		{"n=0 tool=1 baretool=1 node=1 log=1 file=1 ui=1 quota=1 junk=1 io=512 summary=1 suspended=1", 20, `"execution_io_id":512`, false},
		{"n=0 big=100000", 2, strings.Repeat("x", 100000), false},
		{"n=20 bad=1", 41, "event: quota_warning\ndata: \n", false},
		{"html=1", 0, "<title>", false},
		{"json=1", 0, "no stream", false},
		{"status=503 msg=later", 0, "refused later", false},
	} {
		_, text, err := chat(t, s, token, c.input)
		if n := strings.Count(text, "\n\n"); (err != nil) != c.broken || n != c.frames || !strings.Contains(text, c.has) {
			t.Errorf("%s: %v, %d frames\n%.2000s", c.input, err, n, text)
		}
	}
	s.WaitIdle()
}

// TestInABubble: in memory, time is the test's.
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{Memory: true})
		token, _ := s.SignIn()
		start := time.Now()
		_, text, err := chat(t, s, token, "n=100 rate=10")
		if took := time.Since(start); err != nil || took != 10*time.Second || strings.Count(text, "\n\n") != 101 {
			t.Errorf("%v after %s", err, took)
		}
		s.Fail(PathAgents, Failure{Wait: time.Minute}, Failure{Status: 200, Body: "<html>"}, Failure{Drop: true})
		start = time.Now()
		for _, want := range []string{"items", "<html>"} {
			if _, text, err := ask(t, s, PathAgents, token, ""); err != nil || !strings.Contains(text, want) || time.Since(start) != time.Minute {
				t.Errorf("%v %s", err, text)
			}
		}
		if _, _, err := ask(t, s, PathAgents, token, ""); err == nil {
			t.Error("the connection didn't break")
		}
	})
}

// TestStop ends the streams of one conversation, and no other's.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{Memory: true})
		token, _ := s.SignIn()
		ended := make(chan string, 1)
		go func() {
			_, text, err := chat(t, s, token, "n=9 hang=3")
			ended <- fmt.Sprint(strings.Count(text, "data:"), err)
		}()
		s.WaitActive(1)
		for id, want := range map[string]int{"other": 404, "c": 200} {
			if status, text, err := ask(t, s, PathStop+id, token, "{}"); err != nil || status != want {
				t.Errorf("%s: %d %s %v", id, status, text, err)
			}
		}
		if got := <-ended; got != "3 <nil>" {
			t.Errorf("the stream ended with %s", got)
		}
		s.Run("c", true)
		if status, _, _ := ask(t, s, PathStop+"c", token, "{}"); status != 409 {
			t.Errorf("a run elsewhere answers %d", status)
		}
	})
}
