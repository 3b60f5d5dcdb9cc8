package llama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

// sent answers a chat with an event stream of these pieces, each flushed on its own.
func sent(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

// event wraps a chunk.
func event(data string) string { return "data: " + data + "\n\n" }

// collector is a stage that keeps what it is given.
type collector struct {
	text    strings.Builder
	batches int
	finish  string
	usage   *wire.Usage
	ended   int
	cause   error
	refuse  error // returned by Push
	pushed  func()
}

func (c *collector) Push(_ context.Context, element any) error {
	batch := element.(*wire.Tokens)
	c.batches++
	for _, token := range batch.Items {
		c.text.Write(token.Raw)
	}
	if batch.Finish != "" {
		c.finish = batch.Finish
	}
	if batch.Usage != nil {
		c.usage = batch.Usage
	}
	if c.pushed != nil {
		c.pushed()
	}
	return c.refuse
}

func (c *collector) Done(cause error) { c.ended++; c.cause = cause }

// streamOf runs one stream of a server whose chats are answered by handler.
func streamOf(t *testing.T, ctx context.Context, handler http.HandlerFunc, c *collector) error {
	t.Helper()
	m := newMemory()
	m.route("/v1/chat/completions", handler)
	s, closeBoth := m.attach(t, ServerOptions{})
	defer closeBoth()
	lease := acquire(t, s)
	defer lease.Release()
	stream := lease.Stream("m", &wire.ModelRequest{Messages: []wire.Message{{Role: "user", Content: "hi"}}})
	stream.next = c
	err := stream.Run(ctx)
	if c.ended != 1 || c.cause != err {
		t.Errorf("the next stage was told the end %d times, with %v instead of %v", c.ended, c.cause, err)
	}
	return err
}

const (
	roleOnly = `{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}`
	stopped  = `{"choices":[{"finish_reason":"stop","index":0,"delta":{}}]}`
)

func TestStreamReadsAWholeAnswer(t *testing.T) {
	for name, pieces := range map[string][]string{
		"each event alone": {event(roleOnly), event(content(`"a"`)), event(content(`"b"`)), event(stopped), event("[DONE]")},
		"all at once":      {event(roleOnly) + event(content(`"a"`)) + event(content(`"b"`)) + event(stopped) + event("[DONE]")},
		"without DONE":     {event(content(`"a"`)), event(content(`"b"`)), event(stopped)},
		"comments":         {":\n\n", event(content(`"a"`)), ": ping\n\n", event(content(`"b"`)) + event(stopped) + event("[DONE]")},
		"text after DONE":  {event(content(`"a"`)) + event(content(`"b"`)) + event(stopped) + event("[DONE]") + event(content(`"c"`))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &collector{}
				if err := streamOf(t, t.Context(), sent(pieces...), c); err != nil {
					t.Fatal(err)
				}
				if c.text.String() != "ab" || c.finish != "stop" {
					t.Errorf("text %q, finish %q", c.text.String(), c.finish)
				}
			})
		})
	}
}

// An event that spans two reads lives in the decoder's buffer, which the rest of the second read
// overwrites before the batch is pushed.
func TestStreamKeepsTheTextsOfEventsThatSpanReads(t *testing.T) {
	var whole strings.Builder
	want := ""
	for i := range 400 {
		whole.WriteString(event(content(fmt.Sprintf(`"w%d "`, i))))
		want += fmt.Sprintf("w%d ", i)
	}
	whole.WriteString(event(stopped) + event("[DONE]"))
	for _, size := range []int{1, 7, 331, 1000, 8191, 8192, 100000} {
		synctest.Test(t, func(t *testing.T) {
			var pieces []string
			for piece := range slices.Chunk([]byte(whole.String()), size) {
				pieces = append(pieces, string(piece))
			}
			c := &collector{}
			if err := streamOf(t, t.Context(), sent(pieces...), c); err != nil || c.text.String() != want {
				t.Fatalf("pieces of %d: %v, %d bytes of text", size, err, c.text.Len())
			}
		})
	}
}

func TestStreamFaults(t *testing.T) {
	refused := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	cut := func(w http.ResponseWriter, r *http.Request) {
		sent(event(content(`"a"`)))(w, r)
		panic(http.ErrAbortHandler)
	}
	unending := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "it is broken")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		words   []string
		text    string
	}{
		"ends without a finish reason": {sent(event(content(`"a"`))), []string{"broke"}, "a"},
		"connection cut":               {cut, []string{"broke"}, "a"},
		"error in mid-stream":          {sent(event(content(`"a"`)) + event(`{"error":{"code":500,"message":"decode failed"}}`) + event(content(`"b"`))), []string{"decode failed"}, "a"},
		"not JSON":                     {sent(event(content(`"a"`)) + event(`oops`)), []string{"not JSON"}, "a"},
		"odd schema":                   {refused(400, `{"error":{"code":400,"message":"JSON schema conversion failed:\nUnrecognized schema: 5","type":"invalid_request_error"}}`), []string{"400", "schema: 5", "agents[].tools"}, ""},
		"wrong key":                    {refused(401, `{"error":{"message":"Invalid API Key"}}`), []string{"401", "api_key"}, ""},
		"not found":                    {refused(404, `nothing here`), []string{"404", "nothing here", "llama_server.url"}, ""},
		"other":                        {refused(500, `{"error":{"message":"boom"}}`), []string{"500", "boom"}, ""},
		"no error but its name":        {refused(500, `{"error":null,"detail":"boom"}`), []string{"500", "detail"}, ""},
		"an answer that never ends":    {unending, []string{"500", "it is broken"}, ""},
		"redirect":                     {refused(307, ""), []string{"307", "redirects", "llama_server.url"}, ""},
		"a page":                       {refused(200, "<html>\n</html>\n"), []string{"no event stream"}, ""},
		"nothing":                      {refused(200, ""), []string{"no event stream"}, ""},
		"huge event":                   {sent("data: " + strings.Repeat("x", maxFrameBytes+1)), []string{"16 MiB"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := &collector{}
				wantFault(t, streamOf(t, t.Context(), c.handler, got), wire.CodeInternal, c.words...)
				if got.text.String() != c.text {
					t.Errorf("text %q", got.text.String())
				}
			})
		})
	}
}

func TestStreamTellsAnOverflow(t *testing.T) {
	for numbers, want := range map[string][2]int{
		`,"n_prompt_tokens":28023,"n_ctx":2048`: {28023, 2048}, ``: {0, 0}, `,"n_prompt_tokens":-1,"n_ctx":"x"`: {0, 0}, `,"n_prompt_tokens":1e300,"n_ctx":7`: {math.MaxInt32, 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			body := `{"error":{"code":400,"message":"request is too long","type":"exceed_context_size_error"` + numbers + `}}`
			err := streamOf(t, t.Context(), answer(400, body), &collector{})
			var overflow *wire.Overflow
			if !errors.As(err, &overflow) || overflow.PromptTokens != want[0] || overflow.ContextSize != want[1] {
				t.Fatalf("%s: %#v", numbers, err)
			}
			wantFault(t, overflow.Fault, wire.CodeInternal, "400", "too long", "ctx_size")
		})
	}
}

func TestStreamOfALoadingServerIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := streamOf(t, t.Context(), answer(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`), &collector{})
		var notReady *wire.NotReady
		if !errors.As(err, &notReady) {
			t.Errorf("got %v", err)
		}
	})
}

func TestStreamEndsWithItsContextAndClosesTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		handler := func(w http.ResponseWriter, r *http.Request) {
			sent(event(content(`"a"`)))(w, r)
			<-r.Context().Done()
			close(closed)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		c := &collector{pushed: func() { cancel(why) }}
		if err := streamOf(t, ctx, handler, c); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		<-closed
	})
}

func TestStreamStopsWhenTheNextStageWantsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{refuse: wire.NewFault(wire.CodeInternal, "enough")}
		wantFault(t, streamOf(t, t.Context(), sent(event(content(`"a"`)), event(content(`"b"`))), c), wire.CodeInternal, "enough")
		if c.text.String() != "a" {
			t.Errorf("text %q", c.text.String())
		}
	})
}

func TestStreamDoesNotWaitForAServerThatKeepsTheResponseOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := func(w http.ResponseWriter, r *http.Request) {
			sent(event(content(`"a"`))+event(stopped)+event("[DONE]"))(w, r)
			<-r.Context().Done()
		}
		start := time.Now()
		if err := streamOf(t, t.Context(), handler, &collector{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestStreamSilenceIsNoFailureWhileHealthAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Minute)
			sent(event(content(`"a"`))+event(stopped)+event("[DONE]"))(w, r)
		}
		c := &collector{}
		if err := streamOf(t, t.Context(), handler, c); err != nil || c.text.String() != "a" {
			t.Errorf("%v, text %q", err, c.text.String())
		}
	})
}

func TestStreamMeasuresTheWaitForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.route("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Second)
			sent(event(content(`"a"`)))(w, r)
			time.Sleep(3 * time.Second)
			sent(event(stopped)+event("[DONE]"))(w, r)
		})
		s, closeBoth := m.attach(t, ServerOptions{})
		defer closeBoth()
		lease := acquire(t, s)
		defer lease.Release()
		stream := lease.Stream("", &wire.ModelRequest{})
		stream.next = &collector{}
		if err := stream.Run(t.Context()); err != nil || stream.Upstream() != 5*time.Second {
			t.Errorf("%v, upstream %s", err, stream.Upstream())
		}
	})
}

func TestStreamFeedsAForeignOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.route("/v1/chat/completions", sent(event(content(`"a"`)), event(content(`"b"`)), event(stopped)+event("[DONE]")))
		s, closeBoth := m.attach(t, ServerOptions{})
		defer closeBoth()
		lease := acquire(t, s)
		defer lease.Release()
		stream := lease.Stream("", &wire.ModelRequest{})
		out := stream.Via(flow.NewPassThrough()).Out()
		ended := make(chan error, 1)
		go func() { ended <- stream.Run(t.Context()) }()
		text := ""
		for element := range out {
			for _, token := range element.(*wire.Tokens).Items {
				text += string(token.Raw)
			}
		}
		if err := <-ended; err != nil || text != "ab" {
			t.Errorf("%v, text %q", err, text)
		}
	})
}

func TestRequestBody(t *testing.T) {
	warm := 0.5
	got := string(appendBody(nil, "m\"x", &wire.ModelRequest{
		Messages:  []wire.Message{{Role: "system", Content: "be\nbrief"}, {Role: "user", Content: "é"}},
		MaxTokens: 7, Temperature: &warm,
	}))
	want := `{"messages":[{"role":"system","content":"be\nbrief"},{"role":"user","content":"é"}],"model":"m\"x","stream":true,"stream_options":{"include_usage":true},` +
		`"return_progress":true,"cache_prompt":true,"max_tokens":7,"temperature":0.5}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
