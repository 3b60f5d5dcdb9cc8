package peers

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func startLoad(t *testing.T) string {
	t.Helper()
	server, err := load.Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server.Address()
}

func request(steer string) string {
	body := `{"messages":[{"role":"user","content":"` + steer + `"}],"stream":true}`
	return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func TestLimitWritesOneLineATokenAndTheAskedBytes(t *testing.T) {
	address := startLoad(t)
	for _, test := range []struct{ tokens, bytes int }{{1, 0}, {3000, 0}, {3000, 500_000}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			defer write.Close()
			ended <- Limit(LimitOptions{address, test.tokens, test.bytes},
				strings.NewReader(request(fmt.Sprintf("n=%d", test.tokens))), int(write.Fd()))
		}()
		output, err := io.ReadAll(read)
		read.Close()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if err != nil || test.bytes > 0 && len(output) != test.bytes {
			t.Errorf("%d bytes were written, want %d, %v", len(output), test.bytes, err)
		}
		stream := verify.NewStream(verify.Options{ID: `"1"`, Filled: true})
		stream.ReadLines(output, 1)
		if report := stream.Report(test.tokens); report.Err() != nil || report.Chunks != test.tokens {
			t.Errorf("%d lines of %d: %v", report.Chunks, test.tokens, report.Err())
		}
	}
}

func TestCopierForwardsTheStream(t *testing.T) {
	program, err := BuildCopier(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(startLoad(t))
	if err != nil {
		t.Fatal(err)
	}
	latencies := latency.New()
	stream := verify.NewStream(verify.Options{Format: verify.SSE, Timed: true, Latency: latencies})
	p, err := host.Start(t.Context(), host.Options{Path: program, Args: []string{port}, Lines: stream})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := io.WriteString(p, request("n=50 rate=5000")); err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context(), stream.Done()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	report := stream.Report(50)
	if err := report.Err(); err != nil || latencies.Count() != 50 {
		t.Errorf("%d tokens arrived: %v", latencies.Count(), err)
	}
}

func TestACompilerThatFailsIsTold(t *testing.T) {
	failing, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", failing)
	if _, err := BuildCopier(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), failing) {
		t.Errorf("BuildCopier: %v", err)
	}
}
