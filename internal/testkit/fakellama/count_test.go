package fakellama

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// fetch asks a path; an empty body is a GET.
func fetch(t *testing.T, s *Server, path, body string) (int, gjson.Result) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, gjson.ParseBytes(text)
}

func TestAPromptThatIsTooLong(t *testing.T) {
	const body = `{"messages":[{"role":"user","content":"n=1 %s"}]}`
	s := Start(t, Options{ContextSize: 200})
	if _, props := fetch(t, s, "/props", ""); props.Get("default_generation_settings.n_ctx").Int() != 200 {
		t.Errorf("props %s", props.Raw)
	}
	count := func(request string) int64 {
		_, prompt := fetch(t, s, "/apply-template", request)
		_, tokens := fetch(t, s, "/tokenize", fmt.Sprintf(`{"content":%s}`, prompt.Get("prompt").Raw))
		return tokens.Get("tokens.#").Int()
	}
	short, long := fmt.Sprintf(body, "x"), fmt.Sprintf(body, strings.Repeat("é", 100))
	if n := count(short); n == 0 || n > 200 {
		t.Errorf("a short prompt: %d tokens", n)
	}
	if status, _ := fetch(t, s, "/v1/chat/completions", short); status != 200 {
		t.Errorf("a short prompt: HTTP %d", status)
	}
	for _, request := range []string{long, fmt.Sprintf(body, "overflow=10")} {
		status, answer := fetch(t, s, "/v1/chat/completions", request)
		e := answer.Get("error")
		if status != 400 || e.Get("type").String() != "exceed_context_size_error" || e.Get("n_prompt_tokens").Int() != count(request) {
			t.Errorf("HTTP %d %s; counted %d", status, answer.Raw, count(request))
		}
	}
	if n := s.Asked("/tokenize"); n != 3 {
		t.Errorf("counted %d times", n)
	}
}

func TestWhatOthersLeaveOut(t *testing.T) {
	s := Start(t, Options{NoCount: true})
	for _, path := range []string{"/apply-template", "/tokenize"} {
		if status, _ := fetch(t, s, path, "{}"); status != 404 {
			t.Errorf("%s: HTTP %d", path, status)
		}
	}
	if status, _ := fetch(t, s, "/v1/embeddings", `{"input":["x"]}`); status != 501 {
		t.Errorf("embeddings: HTTP %d", status)
	}
	if _, props := fetch(t, s, "/props", ""); props.Get("default_generation_settings").Exists() {
		t.Errorf("props %s", props.Raw)
	}
}

func TestEmbeddings(t *testing.T) {
	s := Start(t, Options{Embeddings: true})
	_, answer := fetch(t, s, "/v1/embeddings", `{"input":["A pipe waits","a pipe runs","nothing else here",""]}`)
	product := func(a, b int) (sum float64) {
		x, y := answer.Get(fmt.Sprintf("data.%d.embedding", a)).Array(), answer.Get(fmt.Sprintf("data.%d.embedding", b)).Array()
		for i := range x {
			sum += x[i].Float() * y[i].Float()
		}
		return sum
	}
	if answer.Get("data.#").Int() != 4 || product(0, 0) < 0.99 || product(3, 3) < 0.99 || product(0, 1) <= product(0, 2) {
		t.Errorf("%s", answer.Raw)
	}
}
