package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

const secret = "a-token-nobody-may-see"

// endpoint is a server over counters of its own.
type endpoint struct {
	t       *testing.T
	url     string
	options Options
	log     *bytes.Buffer // to be read once the server has ended
	server  *Server
}

func serve(t *testing.T, token string) *endpoint {
	t.Helper()
	listener, err := Listen("127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{t: t, url: "http://" + listener.Addr().String(), log: &bytes.Buffer{}}
	logger := slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.options = Options{
		Token: token, DataDir: t.TempDir(), Version: "1.2.3", Bounds: Bounds{PendingBytes: 10, GuaranteedBytes: 20, QueueFrames: 30},
		ChatStates: []string{"waiting", "running"},
		Stats: func() *wire.Stats {
			return &wire.Stats{
				Uptime: 5 * time.Second, Sent: 7, StallReader: wire.StallStats{Count: 2, Time: 3 * time.Second},
				Requests: []wire.RequestStats{{Method: "chat", Outcome: "cancelled", Count: 4}},
				ChatTime: wire.Timings{Upstream: 6 * time.Second},
				Chats:    []wire.ChatStats{{ID: "1", State: "running"}},
				Stages:   []wire.StageStats{{Name: "parse", Count: 8, Busy: time.Second}},
			}
		},
		Encode:  func(dst []byte, s *wire.Stats) []byte { return append(dst, `{"uptime_ms":5000}`...) },
		Metrics: NewMetrics(), Stalls: &Stalls{}, Logger: logger,
	}
	e.server = Serve(listener, e.options)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return e
}

// get asks and returns the status and the body. change may alter the request.
func (e *endpoint) get(path string, change func(*http.Request)) (int, string) {
	e.t.Helper()
	request, err := http.NewRequest(http.MethodGet, e.url+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if change != nil {
		change(request)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestStats(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	e.options.Stalls.Add(wire.Stall{Cause: wire.CauseReader, Took: 1500 * time.Microsecond, Ended: at, Request: `"a<b"`, Bytes: 9})
	e.options.Stalls.Add(wire.Stall{Cause: wire.CauseEngine, Took: time.Second, Ended: at})
	status, body := e.get("/stats", nil)
	var got struct {
		Uptime int `json:"uptime_ms"`
		Stalls []struct {
			Cause   string
			MS      int
			At      time.Time
			Request *string
			Bytes   int `json:"queue_bytes"`
		} `json:"recent_stalls"`
		Bounds  Bounds
		PID     int
		Version string
	}
	if err := json.Unmarshal([]byte(body), &got); status != http.StatusOK || err != nil {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	if got.Uptime != 5000 || got.PID != os.Getpid() || got.Version != "1.2.3" || got.Bounds != e.options.Bounds || len(got.Stalls) != 2 {
		t.Fatalf("got %s", body)
	}
	first, second := got.Stalls[0], got.Stalls[1]
	if first.Cause != "reader" || first.MS != 1 || !first.At.Equal(at) || *first.Request != "a<b" || first.Bytes != 9 || second.Request != nil {
		t.Errorf("got %s", body)
	}
}

// TestNoStallIsAnEmptyList, not null.
func TestNoStallIsAnEmptyList(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	if _, body := e.get("/stats", nil); !strings.Contains(body, `"recent_stalls":[]`) {
		t.Errorf("got %s", body)
	}
}

func TestMetrics(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	e.options.Metrics.Wrote(3*time.Microsecond, 2*time.Second)
	e.options.Metrics.Wrote(time.Second, 0)
	status, body := e.get("/metrics", nil)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	for _, line := range []string{
		`sluice_build_info{version="1.2.3"} 1`, `sluice_events_total{result="sent"} 7`,
		`sluice_stalls_total{cause="reader"} 2`, `sluice_stall_seconds_total{cause="reader"} 3`,
		`sluice_requests_total{method="chat",outcome="cancelled"} 4`, `sluice_chat_seconds_total{cause="upstream"} 6`,
		`sluice_chats{state="running"} 1`, `sluice_chats{state="waiting"} 0`, `sluice_stage_items_total{stage="parse"} 8`,
		`sluice_queue_limit_bytes{class="guaranteed"} 20`,
		`sluice_output_write_duration_seconds_bucket{le="4e-06"} 1`, `sluice_output_write_duration_seconds_count 2`,
		`sluice_added_latency_seconds_count 1`, `sluice_added_latency_seconds_sum 2`,
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	for line := range strings.Lines(body) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[1] == "TYPE" && fields[3] == "counter" && !strings.HasSuffix(fields[2], "_total") {
			t.Errorf("%s is a counter", fields[2])
		}
	}
}

func TestRoutes(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	for path, want := range map[string]int{
		"/": 200, "/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 200, "/no": 404, "/stats/x": 404,
	} {
		if got, body := e.get(path, nil); got != want {
			t.Errorf("%s: %d %.100s", path, got, body)
		}
	}
	if got, _ := e.get("/stats", func(r *http.Request) { r.Method = http.MethodPost }); got != http.StatusMethodNotAllowed {
		t.Errorf("a POST got %d", got)
	}
}

// TestHost: a page whose name was made to point here is sent away; so is nobody who names this machine.
func TestHost(t *testing.T) {
	e := serve(t, "")
	defer e.server.Close()
	for host, want := range map[string]int{
		"localhost": 200, "localhost:80": 200, "127.0.0.1": 200, "[::1]:9": 200, "[::1]": 200,
		"evil.example": 403, "evil.example:80": 403, "10.0.0.1": 403, "127.0.0.1.evil.example": 403,
	} {
		if got, _ := e.get("/stats", func(r *http.Request) { r.Host = host }); got != want {
			t.Errorf("%s: %d", host, got)
		}
	}
}

// TestToken is wanted by every route, in either way, and told by none.
func TestToken(t *testing.T) {
	e := serve(t, secret)
	for _, path := range []string{"/", "/stats", "/metrics", "/debug/pprof/", "/debug/pprof/heap", "/no"} {
		for given, change := range map[string]func(*http.Request){
			"none":   nil,
			"wrong":  func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret[1:]) },
			"empty":  func(r *http.Request) { r.URL.RawQuery = "token=" },
			"scheme": func(r *http.Request) { r.Header.Set("Authorization", secret) },
			"longer": func(r *http.Request) { r.URL.RawQuery = "token=" + secret + "x" },
		} {
			if got, body := e.get(path, change); got != http.StatusUnauthorized || strings.Contains(body, secret) {
				t.Errorf("%s with token %s: %d %.100s", path, given, got, body)
			}
		}
	}
	for given, change := range map[string]func(*http.Request){
		"header": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret); r.Host = "elsewhere.example" },
		"query":  func(r *http.Request) { r.URL.RawQuery = "token=" + secret },
	} {
		if got, body := e.get("/stats", change); got != http.StatusOK || strings.Contains(body, secret) {
			t.Errorf("with the token by %s: %d %.100s", given, got, body)
		}
	}
	text, err := os.ReadFile(e.server.run.path)
	if err != nil || strings.Contains(string(text), secret) {
		t.Errorf("the run file is %q, %v", text, err)
	}
	e.server.Close()
	if strings.Contains(e.log.String(), secret) || !strings.Contains(e.log.String(), "listens") {
		t.Errorf("the log is %s", e.log)
	}
}
