package llama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

func TestEmbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := ""
		_, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/v1/embeddings": func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			asked = r.Header.Get("Authorization") + " " + string(text)
			answer(200, `{"data":[{"index":1,"embedding":[-1,0.5]},{"index":0,"embedding":[1e-3,2]}]}`)(w, r)
		}})
		defer stop()
		got, err := lease.server.Embed(t.Context(), "e", []string{"a\n", "é"})
		if want := [][]float32{{0.001, 2}, {-1, 0.5}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v", got, err)
		}
		if want := `Bearer secret-key {"input":["a\n","é"],"encoding_format":"float","model":"e"}`; asked != want {
			t.Errorf("asked %s", asked)
		}
		if got, err := lease.server.Embed(t.Context(), "e", nil); got != nil || err != nil {
			t.Errorf("no texts: %v, %v", got, err)
		}
	})
}

func TestEmbedFaults(t *testing.T) {
	vector := func(index int, text string) string { return fmt.Sprintf(`{"index":%d,"embedding":%s}`, index, text) }
	data := func(vectors ...string) http.HandlerFunc {
		return answer(200, `{"data":[`+strings.Join(vectors, ",")+`]}`)
	}
	for name, c := range map[string]struct {
		route http.HandlerFunc
		words string
	}{
		"not offered":       {answer(501, `{"error":{"message":"This server does not support embeddings"}}`), "--embeddings"},
		"not there":         {http.NotFound, "memory.embedding_model"},
		"wrong key":         {answer(401, `{"error":{"message":"wrong key: secret-key"}}`), "api_key"},
		"too long":          {answer(500, `{"error":{"message":"input (12001 tokens) is too large to process"}}`), "too large"},
		"no JSON":           {answer(200, `<html>`), "can't be read"},
		"a vector a token":  {data(vector(0, `[[1],[2]]`), vector(1, `[[1],[2]]`)), "--pooling"},
		"too few":           {data(vector(0, `[1]`)), "1 embeddings for 2 texts"},
		"the same twice":    {data(vector(0, `[1]`), vector(0, `[1]`)), "numbered"},
		"beyond the end":    {data(vector(0, `[1]`), vector(2, `[1]`)), "numbered"},
		"before the start":  {data(vector(0, `[1]`), vector(-1, `[1]`)), "numbered"},
		"different lengths": {data(vector(0, `[1]`), vector(1, `[1,2]`)), "differ in length"},
		"empty":             {data(vector(0, `[]`), vector(1, `[]`)), "empty"},
		"null":              {data(vector(0, `null`), vector(1, `null`)), "empty"},
		"too large numbers": {data(vector(0, `[1e99]`), vector(1, `[1]`)), "can't be read"},
		"broken":            {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "broke"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/v1/embeddings": c.route})
				defer stop()
				got, err := lease.server.Embed(t.Context(), "", []string{"a", "b"})
				if got != nil || err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "secret-key") {
					t.Errorf("%v, %v", got, err)
				}
			})
		})
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/v1/embeddings": mute})
		defer stop()
		why := errors.New("why")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, why)
		defer cancel()
		if _, err := lease.server.Embed(ctx, "", []string{"a"}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

// TestEmbedOfADeafServer: it is given up as a chat is.
func TestEmbedOfADeafServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/v1/embeddings": mute})
		defer stop()
		m.route("/health", mute)
		_, err := lease.server.Embed(t.Context(), "", []string{"a"})
		wantFault(t, err, wire.CodeInternal, "/health")
	})
}

func TestAServerForEmbeddings(t *testing.T) {
	got := plainFlags(ServerOptions{ModelPath: "e.gguf", Embeddings: true})
	want := []string{"--embeddings", "--batch-size", "2048", "--ubatch-size", "2048"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
