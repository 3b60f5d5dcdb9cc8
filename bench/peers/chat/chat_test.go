package chat

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer answers every request with a status and pieces, each sent when it is asked for.
func startServer(t *testing.T, status int, pieces ...string) (url string, next chan<- struct{}) {
	t.Helper()
	wanted := make(chan struct{}, len(pieces))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		for _, piece := range pieces {
			<-wanted
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, wanted
}

const request = `{"id":"7","method":"chat","params":{"input":"n=1"}}` + "\n"

func TestFramesAreReadAsTheyCome(t *testing.T) {
	url, next := startServer(t, http.StatusOK, "data: a\n\ndata: b\n", "\nda", "ta: c\n\n", "data: [DONE]\n\n")
	next <- struct{}{}
	err := Serve(t.Context(), url, strings.NewReader(request), func(r Request, frames *Frames) error {
		var got []string
		for {
			data, err := frames.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("%s %v", data, frames.Waiting()))
			switch string(data) {
			case "b":
				next <- struct{}{}
				next <- struct{}{}
			case "c":
				next <- struct{}{}
			}
		}
		if want := "[a true b false c false]"; fmt.Sprint(got) != want {
			t.Errorf("frames are %v, want %s", got, want)
		}
		if want := `{"id":"7","type":"result","result":{"finish_reason":"stop"}}` + "\n"; r.Result() != want {
			t.Errorf("the result is %s", r.Result())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func readAll(_ Request, frames *Frames) error {
	for {
		if _, err := frames.Next(); err != nil {
			return err
		}
	}
}

func TestBrokenStreamsAreErrors(t *testing.T) {
	cut, next := startServer(t, http.StatusOK, "data: a\n\n")
	next <- struct{}{}
	refused, _ := startServer(t, http.StatusServiceUnavailable)
	for name, test := range map[string]struct{ url, input, want string }{
		"cut":     {cut, request, io.ErrUnexpectedEOF.Error()},
		"refused": {refused, request, "503"},
		"no JSON": {refused, "{\n", "request"},
	} {
		err := Serve(t.Context(), test.url, strings.NewReader(test.input), readAll)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
