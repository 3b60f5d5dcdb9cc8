package llama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

func TestALoadingServerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{})
		defer stop()
		loaded := time.Now().Add(90 * time.Second)
		m.route("/props", func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(loaded) {
				answer(503, "Loading model")(w, r)
			}
		})
		var phases []Phase
		lease, err := s.Acquire(t.Context(), func(p Phase) { phases = append(phases, p) })
		if err != nil {
			t.Fatal(err)
		}
		lease.Release()
		if lease.Load < 90*time.Second || lease.Load > 91*time.Second || lease.Queue != 0 {
			t.Errorf("load %s, queue %s", lease.Load, lease.Queue)
		}
		if want := []Phase{PhaseServerStart, PhaseModelLoad}; !slices.Equal(phases, want) {
			t.Errorf("phases %q, want %q", phases, want)
		}
		before := m.count("/props")
		acquire(t, s).Release()
		if m.count("/props") != before {
			t.Error("a server that is known was asked again")
		}
	})
}

func TestAttachFaults(t *testing.T) {
	for name, c := range map[string]struct {
		route   http.HandlerFunc
		refuses bool
		words   []string
		after   time.Duration
	}{
		"wrong key":      {route: answer(401, ""), words: []string{"llama_server.api_key", "401"}},
		"forbidden":      {route: answer(403, ""), words: []string{"llama_server.api_key"}},
		"broken gateway": {route: answer(502, ""), words: []string{"502"}},
		"refused":        {refuses: true, words: []string{"connection refused", "llama_server.url"}},
		"never loaded":   {route: answer(503, ""), words: []string{"2m0s", "startup_timeout"}, after: 2 * time.Minute},
		"mute":           {route: mute, words: []string{"2m0s", "startup_timeout"}, after: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.route("/props", c.route)
				m.refuse(c.refuses)
				s, stop := m.attach(t, ServerOptions{APIKey: "secret-key"})
				defer stop()
				start := time.Now()
				_, err := s.Acquire(t.Context(), nil)
				wantFault(t, err, wire.CodeInternal, c.words...)
				if strings.Contains(err.Error(), "secret-key") {
					t.Error("the key is in the message")
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("took %s, want %s", took, c.after)
				}
				// The next one asks anew, at once.
				m.route("/props", answer(200, `{}`))
				m.refuse(false)
				acquire(t, s).Release()
				if took := time.Since(start); took != c.after {
					t.Errorf("the next took until %s", took)
				}
			})
		})
	}
}

func TestAServerIsCheckedAnewAfterAFailedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{Parallel: 1})
		defer stop()
		lease := acquire(t, s)
		fault := lease.Describe(errors.New("unexpected EOF"))
		wantFault(t, fault, wire.CodeInternal, "unexpected EOF", "embedded model")
		lease.Release()
		m.refuse(true)
		_, err := s.Acquire(t.Context(), nil)
		wantFault(t, err, wire.CodeInternal, "connection refused")
		m.refuse(false)
		acquire(t, s).Release()
		if known := wire.NewFault(wire.CodeOverloaded, "known"); lease.Describe(fmt.Errorf("wrapped: %w", known)) != known {
			t.Error("a fault was described anew")
		}
	})
}

func TestAttachByAddress(t *testing.T) {
	var key, path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, path = r.Header.Get("Authorization"), r.URL.Path
	}))
	defer server.Close()
	s := newServer(t, ServerOptions{URL: server.URL + "/", APIKey: "k", ModelName: "m"})
	lease := acquire(t, s)
	defer lease.Release()
	if key != "Bearer k" || path != "/props" || lease.BaseURL != server.URL || lease.Model != "m" || lease.Key != "k" {
		t.Errorf("key %q path %q lease %+v", key, path, lease.Endpoint)
	}
}

func TestAddresses(t *testing.T) {
	for address, base := range map[string]string{
		"http://127.0.0.1:8080":   "http://127.0.0.1:8080",
		"https://h.example/llama": "https://h.example/llama",
		"unix:///run/x.sock":      "http://llama",
		"unix://run/x.sock":       "",
		"unix:///":                "http://llama",
		"ftp://h":                 "",
		"127.0.0.1:8080":          "",
		"http://":                 "",
		"http://a b/":             "",
	} {
		e, name, fault := attachEndpoint(ServerOptions{URL: address})
		if e.BaseURL != base || (fault == nil) != (base != "") || (fault == nil && name == "") {
			t.Errorf("%s: base %q, name %q, %v", address, e.BaseURL, name, fault)
		}
	}
	if _, name, _ := attachEndpoint(ServerOptions{URL: "http://me:hunter2@h"}); strings.Contains(name, "hunter2") {
		t.Errorf("a password is in the name %s", name)
	}
}

func TestIdle(t *testing.T) {
	for name, c := range map[string]struct {
		slots  http.HandlerFunc
		shared bool
		want   time.Duration
		ok     bool
	}{
		"idle at once": {slots: answer(200, `[{"is_processing":false}]`), ok: true},
		"not shown":    {slots: answer(501, `{}`)},
		"no JSON":      {slots: answer(200, `nonsense`)},
		"shared":       {slots: answer(200, `[]`), shared: true},
		"always busy":  {slots: answer(200, `[{"is_processing":false},{"is_processing":true}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				m.route("/slots", c.slots)
				s, stop := m.attach(t, ServerOptions{})
				defer stop()
				lease := acquire(t, s)
				defer lease.Release()
				if c.shared {
					defer acquire(t, s).Release()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if took, ok := lease.Idle(ctx); ok != c.ok || took != c.want {
					t.Errorf("got %s %t", took, ok)
				}
			})
		})
	}
}

func TestIdleTellsHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, stop := m.attach(t, ServerOptions{})
		defer stop()
		lease := acquire(t, s)
		defer lease.Release()
		until := time.Now().Add(70 * time.Millisecond)
		m.route("/slots", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `[{"is_processing":%t}]`, time.Now().Before(until))
		})
		if took, ok := lease.Idle(t.Context()); !ok || took < 70*time.Millisecond || took > 120*time.Millisecond {
			t.Errorf("got %s %t", took, ok)
		}
	})
}
