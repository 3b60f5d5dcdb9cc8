package llama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

var counted = &wire.ModelRequest{
	Messages: []wire.Message{{Role: wire.RoleUser, Content: "hi"}},
	Tools:    []wire.Tool{{Function: "f"}},
}

// leaseOf returns a lease of a server with these routes.
func leaseOf(t *testing.T, routes map[string]http.HandlerFunc) (*memory, *Lease, func()) {
	t.Helper()
	m := newMemory()
	for path, handler := range routes {
		m.route(path, handler)
	}
	s, closeBoth := m.attach(t, ServerOptions{APIKey: "secret-key"})
	lease := acquire(t, s)
	return m, lease, func() {
		lease.Release()
		closeBoth()
	}
}

func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]string{}
		route := func(body string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				asked[r.URL.Path] = r.Header.Get("Authorization") + " " + string(text)
				answer(200, body)(w, r)
			}
		}
		_, lease, stop := leaseOf(t, map[string]http.HandlerFunc{
			"/apply-template": route(`{"prompt":"a \"b\"\né"}`), "/tokenize": route(`{"tokens":[5,6,7]}`),
		})
		defer stop()
		if n, err := lease.Count(t.Context(), "m", counted); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		for path, want := range map[string]string{
			"/apply-template": `Bearer secret-key {"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","description":"","parameters":{"type":"object","properties":{}}}}],"parallel_tool_calls":true,"model":"m"}`,
			"/tokenize":       `Bearer secret-key {"content":"a \"b\"\né","add_special":true,"parse_special":true}`,
		} {
			if asked[path] != want {
				t.Errorf("%s was asked %s", path, asked[path])
			}
		}
	})
}

func TestCountsThatFail(t *testing.T) {
	prompt := answer(200, `{"prompt":"x"}`)
	for name, c := range map[string]struct {
		template, tokenize http.HandlerFunc
		took               time.Duration
		// again is how often /apply-template is asked by a second count at once, and one after a minute.
		again, later int
	}{
		"not there":          {template: http.NotFound, again: 0, later: 0},
		"not implemented":    {template: prompt, tokenize: answer(501, `{}`), again: 0, later: 0},
		"failed":             {template: answer(500, `{"error":{"message":"secret-key"}}`), again: 1, later: 1},
		"no JSON":            {template: answer(200, `<html>`), again: 1, later: 1},
		"no prompt":          {template: answer(200, `{"prompt":5}`), again: 1, later: 1},
		"no tokens":          {template: prompt, tokenize: answer(200, `{}`), again: 1, later: 1},
		"no answer":          {template: mute, took: countTimeout, again: 0, later: 1},
		"no answer after it": {template: prompt, tokenize: mute, took: countTimeout, again: 0, later: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/apply-template": c.template, "/tokenize": c.tokenize})
				defer stop()
				start := time.Now()
				n, err := lease.Count(t.Context(), "", counted)
				if n != 0 || err == nil || strings.Contains(err.Error(), "secret-key") || time.Since(start) != c.took {
					t.Errorf("%d, %v after %s", n, err, time.Since(start))
				}
				for i, want := range []int{c.again, c.later} {
					before := m.count("/apply-template")
					if _, err := lease.Count(t.Context(), "", counted); err == nil {
						t.Error("it counted")
					}
					if got := m.count("/apply-template") - before; got != want {
						t.Errorf("count %d asked %d times; want %d", i+2, got, want)
					}
					time.Sleep(countPause)
				}
			})
		})
	}
}

func TestACountEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/apply-template": mute})
		defer stop()
		why := errors.New("why")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		if _, err := lease.Count(ctx, "", counted); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		m.route("/apply-template", answer(200, `{"prompt":"x"}`))
		m.route("/tokenize", answer(200, `{"tokens":[]}`))
		if n, err := lease.Count(t.Context(), "", counted); n != 0 || err != nil {
			t.Errorf("after a cancelled count: %d, %v", n, err)
		}
	})
}

func TestContextSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, lease, stop := leaseOf(t, map[string]http.HandlerFunc{"/props": answer(200, `{"default_generation_settings":{"n_ctx":4096}}`)})
		defer stop()
		if got := lease.ContextSize(); got != 4096 {
			t.Errorf("got %d", got)
		}
		// The server is another one from now on, which doesn't tell.
		m.route("/props", http.NotFound)
		_ = lease.Describe(errors.New("broken"))
		next := acquire(t, lease.server)
		defer next.Release()
		if got := next.ContextSize(); got != 0 || m.count("/props") != 2 {
			t.Errorf("got %d after %d questions", got, m.count("/props"))
		}
	})
}
