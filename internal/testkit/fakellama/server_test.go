package fakellama

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, s *Server, steer string) (int, string, error) {
	t.Helper()
	body := `{"messages":[{"role":"system","content":"n=9"},{"role":"user","content":"` + steer + `"}]}`
	response, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		steer  string
		status int
		tokens int
		whole  bool
		broken bool
		has    string
	}{
		{"n=3", 200, 3, true, false, "[DONE]"},
		{"n=3 frag=1 tok=é", 200, 3, true, false, `"content":"é"`},
		{"n=1 think=2", 200, 1, true, false, `"reasoning_content":" t1"`},
		{"n=3 die=2", 200, 2, false, true, ""},
		{"n=3 cut=2", 200, 2, false, false, ""},
		{"n=3 err=1", 200, 1, false, false, "steered in mid-stream"},
		{"status=500", 500, 0, false, false, "steered"},
	} {
		t.Run(c.steer, func(t *testing.T) {
			s := Start(t, Options{})
			status, text, err := post(t, s, c.steer)
			a := s.WaitAnswers(1)[0]
			if status != c.status || a.Sent != c.tokens || a.Whole != c.whole || (err != nil) != c.broken || !strings.Contains(text, c.has) {
				t.Errorf("%d, %+v, %v, %s", status, a, err, text)
			}
		})
	}
}

func TestLoadingAndKey(t *testing.T) {
	s := Start(t, Options{Key: "secret", Loading: true})
	if status, text, _ := post(t, s, "n=1"); status != 503 || !strings.Contains(text, "Loading model") {
		t.Errorf("loading: %d %s", status, text)
	}
	s.Loaded()
	if status, _, _ := post(t, s, "n=1"); status != 401 {
		t.Errorf("without a key: %d", status)
	}
}
