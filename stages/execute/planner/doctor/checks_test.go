package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/planner"
)

// want holds a finding to its status and to what its message and hint must say.
func want(t *testing.T, check Check, status Status, texts ...string) {
	t.Helper()
	found := Run(t.Context(), []Check{check}).Checks[0]
	if found.ID != check.ID || found.Status != status || found.Message == "" {
		t.Errorf("%+v, want %s", found, status)
	}
	if (found.Hint == "") != (status == OK) {
		t.Errorf("a finding that is %s has the hint %q", status, found.Hint)
	}
	for _, text := range texts {
		if !strings.Contains(found.Message+"\n"+found.Hint, text) {
			t.Errorf("%+v doesn't say %q", found, text)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for _, c := range []struct {
		facts  ConfigurationFacts
		status Status
		says   string
	}{
		{ConfigurationFacts{Path: "/c.yaml", Models: 1, Agents: 2}, OK, "/c.yaml: 1 model, 2 agents"},
		{ConfigurationFacts{Models: 2, Agents: 1}, OK, "the environment: 2 models, 1 agent"},
		{ConfigurationFacts{Path: "/c.yaml", Absent: true}, Fail, "(/c.yaml is not there)"},
		{ConfigurationFacts{Absent: true}, Fail, "there is no configuration"},
		{ConfigurationFacts{Path: "/c.yaml", Err: errors.New("/c.yaml:3: models: must be a list")}, Fail, "/c.yaml:3"},
		{ConfigurationFacts{Path: "/c.yaml"}, Fail, "neither a model nor an agent"},
		{ConfigurationFacts{Path: "/c.yaml", Models: 1, Warnings: []string{"SLUICE_NONE is unknown"}}, Warn, "SLUICE_NONE"},
	} {
		want(t, Configuration(c.facts), c.status, c.says)
	}
}

// program is a llama-server that prints these.
func program(version, help string, err error) ServerFacts {
	return ServerFacts{
		Binary: "llama-server",
		Find:   func(name string) (string, error) { return "/bin/" + name, nil },
		Run: func(_ context.Context, _ string, args ...string) (string, error) {
			if strings.Join(args, " ") == "--version" {
				return version, err
			}
			return help, nil
		},
	}
}

const fullHelp = "-m, --model F\n-c, --ctx-size\n-np,\n-ngl,\n-b,\n-ub,\n-ctk,\n-ctv,\n-cram,\n-ctxcp,\n-fit, --fit [on|off]\n--host\n--port\n"

func TestServer(t *testing.T) {
	want(t, Server(program("\nversion: 7000 (abc)\nbuilt with x\n", fullHelp, nil)), OK, "/bin/llama-server, version: 7000 (abc)")
	want(t, Server(program("version: 1\n", strings.ReplaceAll(fullHelp, "--fit ", "--old "), nil)), Warn, "doesn't know --fit", "update llama.cpp")
	want(t, Server(program("version: 1\n", "", nil)), Warn, "doesn't know -cram, -ctxcp, --fit, and is started without")
	want(t, Server(program("error while loading shared libraries: libggml.so\n", "", errors.New("exit status 127"))), Fail, "exit status 127", "libggml.so")
	want(t, Server(program("", "", fmt.Errorf("x: %w", context.DeadlineExceeded))), Fail, "did not end in time")
	lost := program("", "", nil)
	lost.Find = func(string) (string, error) { return "", exec.ErrNotFound }
	want(t, Server(lost), Fail, `"llama-server" was not found`, "install llama.cpp")
	attached := ServerFacts{Where: "http://host:1", Ping: func(context.Context) error { return nil }}
	want(t, Server(attached), OK, "http://host:1 answers")
	attached.Ping = func(context.Context) error { return errors.New("connection refused") }
	want(t, Server(attached), Fail, "connection refused", "llama_server.url")
}

// TestRealServer asks a real llama-server, which is never given a model.
func TestRealServer(t *testing.T) {
	binary := os.Getenv("LLAMA_SERVER")
	if binary == "" {
		t.Skip("LLAMA_SERVER is not set: make test builds llama-server and sets it")
	}
	want(t, Server(ServerFacts{Binary: binary, Find: exec.LookPath, Run: func(ctx context.Context, path string, args ...string) (string, error) {
		output, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
		return string(output), err
	}}), OK, binary, "version")
}

func TestModel(t *testing.T) {
	full := planner.Result{
		Model:    planner.Model{Quantization: "Q4_K_M", Parameters: 8_030_000_000, FileBytes: 4 << 30},
		Plan:     planner.Plan{CtxSize: 8192, Parallel: 4},
		Estimate: planner.Estimate{Total: 9 << 30, ComputeBuffers: 1}, Fits: true,
		Reductions: []planner.Reduction{{Setting: "ctx_size", From: 131072, To: 8192, Reason: "so"}},
	}
	planned := func(change func(*planner.Result), err error) Check {
		r := full
		if change != nil {
			change(&r)
		}
		return Model("default", func(context.Context) (*planner.Result, error) { return &r, err })
	}
	want(t, planned(nil, nil), OK, "Q4_K_M, 8.0 B parameters, 4.0 GiB; 4 slots of 8192 tokens need 9.0 GiB")
	want(t, planned(func(r *planner.Result) { r.Warnings = []string{"the model has no chat template"} }, nil), Warn, "no chat template")
	want(t, planned(func(r *planner.Result) {
		r.Reductions = []planner.Reduction{{Setting: "ctx_size", From: 9000, To: 8192, Reason: "it is tight", Configured: true}}
	}, nil), Warn, "ctx_size is lowered from 9000 to 8192: it is tight")
	want(t, planned(func(r *planner.Result) { r.Fits = false }, nil), Fail, "doesn't fit")
	want(t, planned(nil, wire.NewFault(wire.CodeModelMissing, "the file is not there")), Fail, "the file is not there", "models[].path")
	want(t, planned(nil, wire.NewFault(wire.CodeModelPlan, "does not fit")), Fail, "ways out")
	want(t, planned(nil, context.DeadlineExceeded), Fail, "in time")
}

func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	free := func(n uint64, err error) func(context.Context, string) (uint64, error) {
		return func(context.Context, string) (uint64, error) { return n, err }
	}
	want(t, Folder(FolderFacts{Path: folder}), OK, folder, "are free")
	want(t, Folder(FolderFacts{Path: folder, Free: free(5<<30, nil), Database: func(context.Context) error { return nil }}), OK, "5.0 GiB are free")
	want(t, Folder(FolderFacts{Path: filepath.Join(folder, "a", "b"), Free: free(5<<30, nil), Database: func(context.Context) error { return errors.New("asked") }}), OK, "will be made")
	want(t, Folder(FolderFacts{}), Fail, "no data folder is known", "app.data_dir")
	want(t, Folder(FolderFacts{Path: filepath.Join(file, "below")}), Fail, "app.data_dir")
	want(t, Folder(FolderFacts{Path: file}), Fail, "is no folder")
	want(t, Folder(FolderFacts{Path: folder, Free: free(500<<20, nil)}), Warn, "only 500 MiB are free")
	want(t, Folder(FolderFacts{Path: folder, Free: free(5<<20, nil)}), Fail, "only 5 MiB are free", "make room")
	want(t, Folder(FolderFacts{Path: folder, Free: free(0, errors.New("no such drive"))}), Warn, "no such drive")
	want(t, Folder(FolderFacts{Path: folder, Free: free(5<<30, nil), Database: func(context.Context) error { return errors.New("database is locked") }}), Fail, "database is locked")

	entries, err := os.ReadDir(folder)
	after, err2 := os.Stat(folder)
	if err := errors.Join(err, err2); err != nil || len(entries) != 1 || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the checks left traces: %v, %v", entries, err)
	}
}

func TestWorld(t *testing.T) {
	probe := func(tools int, err error) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return tools, err }
	}
	want(t, MCP("fs", probe(14, nil)), OK, "14 tools")
	want(t, MCP("fs", probe(0, nil)), Warn, "no tools", "mcp_servers.fs")
	want(t, MCP("fs", probe(0, errors.New(`"npx" was not found`))), Fail, `"npx" was not found`, "mcp_servers.fs")
	want(t, MCP("fs", probe(0, fmt.Errorf("start: %w", context.DeadlineExceeded))), Fail, "within 5s")

	want(t, Keychain(nil), OK, "not available")
	want(t, Keychain(func(context.Context) (string, error) { return "", errors.New("no Secret Service") }), OK, "not available (no Secret Service); only sign-ins at gateways need it")
	want(t, Keychain(func(context.Context) (string, error) { return "Secret Service", nil }), OK, "Secret Service")

	want(t, Stdout(func() (string, error) { return "a pipe", nil }), OK, "stdout is a pipe")
	want(t, Stdout(func() (string, error) { return "", os.ErrClosed }), Fail, "closed")

	found := func(n int, err error) func(context.Context) ([]Process, error) {
		return func(context.Context) (list []Process, _ error) {
			for i := range n {
				list = append(list, Process{100 + i, "llama-server"})
			}
			return list, err
		}
	}
	want(t, Orphans(found(0, nil)), OK, "no servers of earlier runs")
	want(t, Orphans(found(2, nil)), Warn, "llama-server (100), llama-server (101)", "kill 100 101")
	want(t, Orphans(found(30, nil)), Warn, "and 20 more")
	want(t, Orphans(found(0, errors.ErrUnsupported)), OK, "can't be told apart")
	want(t, Orphans(found(0, os.ErrPermission)), Warn, "can't be listed")

	at := func(times ...time.Time) func() time.Time {
		i := -1
		return func() time.Time { i = min(i+1, len(times)-1); return times[i] }
	}
	day := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	want(t, Clock(time.Now), OK)
	want(t, Clock(at(day)), OK, "2026-11-30T12:00:00Z")
	want(t, Clock(at(time.Unix(0, 0))), Warn, "1970-01-01")
	want(t, Clock(at(day, day.Add(-time.Second))), Warn, "backwards")
}
