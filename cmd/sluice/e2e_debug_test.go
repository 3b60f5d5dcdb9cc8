//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/observe"
	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// running waits for the run file of the one engine that uses a data folder.
func running(t *testing.T, dataDir string) (file string, r observe.Running) {
	t.Helper()
	testkit.Until(t, "a run file", func() bool {
		found, _ := filepath.Glob(filepath.Join(dataDir, "run", "*.json"))
		if len(found) != 1 {
			return false
		}
		file = found[0]
		text, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(text, &r) == nil
	})
	return file, r
}

// fetch asks an engine's endpoint.
func fetch(t *testing.T, addr, path string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestStallIsExplained: a reader that stops shows up in the endpoint, the log and the trace, with the
// request that it stopped; the token shows up nowhere.
func TestStallIsExplained(t *testing.T) {
	t.Parallel()
	dataDir := filepath.Join(t.TempDir(), "data")
	const token = "hunter2-hunter2"
	config := fmt.Sprintf("app: {data_dir: '%s'}\noutput: {stall_threshold: 100ms}\n"+
		"debug: {addr: '127.0.0.1:0', token: '%s', flight_recorder: true}\nlog: {level: debug}\n", dataDir, token)
	e, server := attached(t, config, host.Options{Small: true, Pace: paused})
	file, r := running(t, dataDir)
	if status, body := fetch(t, r.Addr, "/stats"); status != http.StatusUnauthorized || strings.Contains(body, token) {
		t.Errorf("without the token: %d %s", status, body)
	}
	e.Chat("c", "n=5000")
	server.WaitAnswers(1)
	stats := func() gjson.Result {
		status, body := fetch(t, r.Addr, "/stats?token="+token)
		if status != http.StatusOK || !gjson.Valid(body) {
			t.Fatalf("%d %s", status, body)
		}
		return gjson.Parse(body)
	}
	testkit.Until(t, "a stall under way", func() bool { return stats().Get("stalls.reader.count").Int() >= 1 })
	traces := filepath.Join(dataDir, "traces", "*.trace")
	testkit.Until(t, "a trace", func() bool { found, _ := filepath.Glob(traces); return len(found) >= 1 })
	e.Resume()
	wantWhole(t, e, "c", fakellama.Text("n=5000"))
	stall := stats().Get(`recent_stalls.#(cause=="reader")`) // on a busy machine the server stands still, too
	if stall.Get("request").Str != "c" || stall.Get("ms").Int() < 100 || stall.Get("queue_bytes").Int() == 0 {
		t.Errorf("the stall is %s", stall)
	}
	if _, body := fetch(t, r.Addr, "/metrics?token="+token); !strings.Contains(body, `sluice_requests_total{method="chat",outcome="ok"} 1`) || strings.Contains(body, token) {
		t.Errorf("the metrics are %s", body)
	}
	e.CloseStdin()
	wantExit(t, e, 0)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the run file is still there: %v", err)
	}
	found, _ := filepath.Glob(traces)
	log := e.Log()
	if !strings.Contains(log, "STDIO_WRITER_STALL") || len(found) == 0 || !strings.Contains(log, "trace="+found[0]) || strings.Contains(log, token) {
		t.Errorf("the log is %s", log)
	}
}

// TestDebugAddressThatCannotBeHad ends the engine while its stdin is still open.
func TestDebugAddressThatCannotBeHad(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct{ config, word string }{
		"in use":              {"debug: {addr: '" + taken.Addr().String() + "'}\n", "in use"},
		"without a token":     {"\ndebug: {addr: '0.0.0.0:0'}\n", "config.yaml:2: debug.addr"},
		"no place for traces": {"app: {data_dir: /dev/null/x}\ndebug: {addr: '127.0.0.1:0', flight_recorder: true}\n", "app.data_dir"},
	} {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, c.config, host.Options{})
			wantExit(t, e, 2)
			if log := e.Log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, c.word) || e.Taken() != 0 {
				t.Errorf("stderr is %q", log)
			}
		})
	}
}
