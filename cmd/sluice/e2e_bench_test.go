//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/bench/load"
	"sluice/internal/bench/report"
	"sluice/internal/testkit"
)

// benched runs sluice bench to its end in an empty folder.
func benched(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(built(t), append([]string{"bench"}, args...)...)
	cmd.Dir = t.TempDir()
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status tells
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

func parsedReport(t *testing.T, text string) (r report.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

func TestBenchTable(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "out.html")
	status, stdout, stderr := benched(t, "--tokens", "20000", "--reader", "fast,stalled", "--stall", "300ms", "--report", page)
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d, stderr %q, stdout %s", status, stderr, stdout)
	}
	for _, want := range []string{"20,000", "stalled", "fast at 1000/s", "latency p99.9", "largest queue", "A reader that stalled for 300 ms cost the model", "no text lost"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q isn't in\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.HasSuffix(string(text), "</html>\n") || !strings.Contains(string(text), "How soon a token arrives") {
		t.Errorf("the page is %.200q (%v)", text, err)
	}
}

// TestBenchEveryReader: no reader loses text, and none that a figure is known for costs anything else.
func TestBenchEveryReader(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := benched(t, "--tokens", "5000", "--stall", "100ms", "--rate", "0", "--streams", "3", "--json", "--socket-pair",
		"--reader", "closed,trickle,stalled,bursty,throttled,fast")
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	r := parsedReport(t, stdout)
	if len(r.Runs) != 6 || r.Interrupted || r.Engine != version {
		t.Errorf("got %s", stdout)
	}
	for _, run := range r.Runs {
		if run.Result == nil || run.Error != "" || run.Sent != 15_000 || run.Lost != 0 || !run.SocketPair || run.Streams != 3 || run.OfFast <= 0 || len(run.StreamTimes) != benchRounds {
			t.Errorf("%s: %+v", run.Label, run)
		}
	}
}

func TestBenchPaced(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := benched(t, "--rate", "500", "--duration", "400ms", "--reader", "fast", "--json", "--policy", "drop")
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	r := parsedReport(t, stdout)
	if len(r.Runs) != 1 || r.Runs[0].Latency == nil || r.Runs[0].Latency.Count == 0 || r.Runs[0].Sent > 200 || r.Runs[0].Policy != "drop" {
		t.Errorf("got %s", stdout)
	}
}

// serverOfOnesOwn is a server of which sluice bench only knows the address.
func serverOfOnesOwn(t *testing.T) (url string) {
	t.Helper()
	server, err := load.Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Address()
}

func TestBenchOfOnesOwnServer(t *testing.T) {
	t.Parallel()
	url := serverOfOnesOwn(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	write(t, config, "llama_server: {url: '"+url+"'}\n")
	for _, source := range [][]string{{"--url", url + "/"}, {"--config", config}} {
		status, stdout, stderr := benched(t, append(source, "--prompt", "n=300", "--reader", "fast,stalled", "--stall", "100ms", "--json")...)
		if status != exitDone || stderr != "" {
			t.Fatalf("status %d, stderr %q", status, stderr)
		}
		r := parsedReport(t, stdout)
		if len(r.Runs) != 2 || strings.TrimSuffix(r.Server, "/") != url || r.Runs[0].Bytes == 0 || r.Runs[1].Lost != 0 {
			t.Errorf("got %s", stdout)
		}
	}
	// --duration ends what the server wouldn't end for long
	status, stdout, _ := benched(t, "--url", url, "--prompt", "n=100000 rate=100", "--reader", "fast", "--duration", "1s")
	if status != exitDone || !strings.Contains(stdout, "* fast: ended by --duration") {
		t.Errorf("status %d, stdout %s", status, stdout)
	}
}

// TestBenchInterrupted: what was measured until then is printed and written.
func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	url := serverOfOnesOwn(t)
	page := filepath.Join(t.TempDir(), "out.html")
	cmd := exec.Command(built(t), "bench", "--url", url, "--prompt", "n=1000000 rate=1000", "--json", "--report", page)
	cmd.Dir = t.TempDir()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run is half a second old", func() bool { return sentTokens(t, url) > 500 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status tells
	if status := cmd.ProcessState.ExitCode(); status != exitFailed || errs.String() != "sluice: interrupted\n" {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
	r := parsedReport(t, out.String())
	if !r.Interrupted || len(r.Runs) != 1 || r.Runs[0].Cut != "interrupted" || r.Runs[0].Result == nil || r.Runs[0].Tokens == 0 {
		t.Errorf("got %s", out.String())
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Interrupted") {
		t.Errorf("the page is %.200q (%v)", text, err)
	}
}

func sentTokens(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Get(url + "/bench/sent")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return sent
}
