package planner

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/stages/execute/planner/machine"
)

// llamaServer is a real one with a plan.
type llamaServer struct {
	t      *testing.T
	cmd    *exec.Cmd
	ended  chan struct{}
	client *http.Client
	log    string
}

// startServer starts the real llama-server with a plan's own flags and waits until it is ready.
func startServer(t *testing.T, model string, flags ...string) *llamaServer {
	t.Helper()
	binary := os.Getenv("LLAMA_SERVER")
	if binary == "" {
		t.Skip("LLAMA_SERVER is not set: make test builds llama-server and sets it")
	}
	folder, err := os.MkdirTemp("", "plan-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket, logName := filepath.Join(folder, "s.sock"), filepath.Join(folder, "log")
	log, err := os.Create(logName)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := &llamaServer{t: t, ended: make(chan struct{}), log: logName}
	s.cmd = exec.Command(binary, append([]string{"-m", model, "--host", socket, "-t", "1"}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(s.ended); _ = s.cmd.Wait() }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	s.client = &http.Client{Transport: transport}
	t.Cleanup(func() { transport.CloseIdleConnections(); _ = s.cmd.Process.Kill(); <-s.ended })
	testkit.Until(t, "llama-server is ready", func() bool { return s.alive() && s.get("/health") == http.StatusOK })
	return s
}

// alive fails the test when the server has ended.
func (s *llamaServer) alive() bool {
	select {
	case <-s.ended:
		log, _ := os.ReadFile(s.log)
		s.t.Fatalf("llama-server ended:\n%s", log[max(0, len(log)-2000):])
	default:
	}
	return true
}

func (s *llamaServer) get(path string) int {
	answer, err := s.client.Get("http://llama" + path)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// complete has the server read a prompt of about so many tokens: the vocabulary has one for each byte.
func (s *llamaServer) complete(tokens int) {
	s.t.Helper()
	body := fmt.Sprintf(`{"prompt":%q,"n_predict":4}`, strings.Repeat("a", tokens))
	answer, err := s.client.Post("http://llama/completion", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", answer.Status, text)
	}
}

// resident is the server's resident memory in bytes (proc(5), /proc/pid/smaps_rollup).
func (s *llamaServer) resident() uint64 {
	s.t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/smaps_rollup")
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "Rss:" {
			n, _ := strconv.ParseUint(fields[1], 10, 64)
			return n << 10
		}
	}
	s.t.Fatal("no Rss in smaps_rollup")
	return 0
}

// TestEstimateIsTrue compares estimates with what the real server takes. Quantized weights are loaded
// without repacking: this build's AMX kernels crash on machines whose hypervisor hides the tiles.
func TestEstimateIsTrue(t *testing.T) {
	for name, c := range map[string]struct {
		shape         ggufShape
		ctx, parallel int
		kvType        kvType
		args          []string
	}{
		"small":                 {small, 4096, 1, kvF16, nil},
		"small, four slots":     {small, 8192, 4, kvF16, nil},
		"wide":                  {wide, 4096, 1, kvF16, nil},
		"wide, long":            {wide, 16384, 1, kvF16, nil},
		"wide, quantized cache": {wide, 16384, 2, kvQ8_0, nil},
		"eight bits":            {eight, 4096, 2, kvF16, []string{"-nr"}},
		"eight bits, long":      {eight, 32768, 1, kvF16, []string{"-nr"}},
		"four bits":             {four, 8192, 3, kvF16, []string{"-nr"}},
		"experts":               {experts, 8192, 2, kvF16, nil},
		"tied":                  {shared, 2048, 2, kvF16, nil},
		"sliding window":        {sliding, 16384, 2, kvF16, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := Inspect(c.shape.write(t, "model.gguf"))
			if err != nil {
				t.Fatal(err)
			}
			hw, _, err := machine.New(Options{}).Look(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			s := setting{ctx: c.ctx, parallel: c.parallel, batch: batchTokens, ubatch: ubatchTokens, kvType: c.kvType, repack: hw.Repack}
			if readArgs(c.args).noRepack {
				s.repack = machine.RepackNone
			}
			e, ok := newEstimator(file, hw).estimate(s)
			if !ok {
				t.Fatal("no estimate")
			}
			plan := Plan{CtxSize: c.ctx, Parallel: c.parallel, BatchSize: s.batch, UBatchSize: s.ubatch, CacheTypeK: string(c.kvType), CacheTypeV: string(c.kvType)}
			server := startServer(t, file.Model.Path, append(plan.Flags(), c.args...)...)
			server.complete(20)
			first := server.resident()
			server.complete(520) // more than a physical batch
			compare(t, "after the first completion", e, first)
			compare(t, "after a long prompt", e, server.resident())
		})
	}
}

// TestServerKeepsToThePlan starts the server with the plan of the demo model, and asks it what it does.
func TestServerKeepsToThePlan(t *testing.T) {
	path := demoModel(t)
	p := New(Options{Memory: fixed, System: fstest.MapFS{}})
	for name, r := range map[string]Request{
		"all is open":    {Path: path},
		"all is set":     {Path: path, CtxSize: 1000, Parallel: 3, GPULayers: "0"},
		"more is wanted": {Path: path, CtxSize: 100_000, Parallel: 1, GPULayers: "5"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := p.Plan(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			server := startServer(t, path, result.Plan.Flags()...)
			answer, err := server.client.Get("http://llama/props")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			ctx, slots := gjson.GetBytes(text, "default_generation_settings.n_ctx").Int(), gjson.GetBytes(text, "total_slots").Int()
			// llama.cpp pads a context to its step.
			if ctx != int64(padded(result.Plan.CtxSize)) || slots != int64(result.Plan.Parallel) {
				t.Errorf("the server has %d slots of %d tokens, planned were %+v", slots, ctx, result.Plan)
			}
			server.complete(50)
			compare(t, "the demo model", result.Estimate, server.resident())
		})
	}
}

// TestCheckpointIsTrue compares the size of a checkpoint with what the server logs.
func TestCheckpointIsTrue(t *testing.T) {
	narrow := sliding
	narrow.more = []pair{{"gemma2.attention.sliding_window", uint32(256)}}
	file := inspected(t, narrow.write(t, "model.gguf"))
	result := &Result{}
	if err := newDecider(file, noGPU, Request{CtxSize: 4096, Parallel: 1}, serverArgs{}).fill(result); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, file.Model.Path, append(result.Plan.Flags(), "-lv", "4")...)
	server.complete(900)
	logged := 0.0
	testkit.Until(t, "a checkpoint is logged", func() bool {
		log, _ := os.ReadFile(server.log)
		for _, match := range checkpointLine.FindAllSubmatch(log, -1) {
			size, _ := strconv.ParseFloat(string(match[1]), 64)
			logged = max(logged, size)
		}
		return logged > 0
	})
	one := newEstimator(file, noGPU).checkpointBytes(4096, kvF16)
	t.Logf("%.3f MiB logged, %d KiB estimated", logged, one>>10)
	if want := float64(one) / (1 << 20); logged < want*0.85 || logged > want*1.15 {
		t.Errorf("%.3f MiB logged, %.3f MiB estimated", logged, want)
	}
}

var checkpointLine = regexp.MustCompile(`created context checkpoint .* size = ([0-9.]+) MiB`)

// compare wants the estimate within 15 % and 64 MiB of the truth.
func compare(t *testing.T, when string, e Estimate, truth uint64) {
	t.Helper()
	t.Logf("%s: %d MiB resident, %d MiB estimated (weights %d, cache %d, compute %d, overhead %d)", when, truth>>20, e.Resident>>20,
		e.Weights>>20, e.KVCache>>20, e.ComputeBuffers>>20, e.Overhead>>20)
	if most := truth*15/100 + 64<<20; max(truth, e.Resident)-min(truth, e.Resident) > most {
		t.Errorf("%s: %d MiB resident, %d MiB estimated", when, truth>>20, e.Resident>>20)
	}
}
