package planner

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/internal/wire"
	"sluice/stages/execute/planner/machine"
)

var update = flag.Bool("update", false, "write the golden files")

// fixed is a machine of 64 GiB, 60 of them available.
func fixed(context.Context) (machine.Memory, error) {
	return machine.Memory{Total: 64 << 30, Available: 60 << 30}, nil
}

// TestGolden holds the result's JSON to the files of testdata.
func TestGolden(t *testing.T) {
	devices := func(context.Context) (string, error) {
		return "Available devices:\n  CUDA0: NVIDIA GeForce RTX 3060 (12036 MiB, 6000 MiB free)\n", nil
	}
	for name, c := range map[string]struct {
		shape ggufShape
		o     Options
		r     Request
	}{
		"host": {small, Options{}, Request{Name: "default", Binary: "/opt/llama-server", Args: []string{"--threads", "4"}}},
		"gpu":  {llama8, Options{ListDevices: devices}, Request{CtxSize: 16384, Args: []string{"--api-token", "secret", "-c", "5"}, ShownArgs: []string{"--api-token", "***", "-c", "5"}}},
		"open": {ggufShape{vocab: 4, embd: 32, layers: 1, heads: 1, headsKV: 1, ff: 32, without: []string{"llama.context_length", "tokenizer.chat_template"}}, Options{},
			Request{CtxSize: 2048, Parallel: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Memory, c.o.System = fixed, fstest.MapFS{}
			p := New(c.o)
			c.r.Path = c.shape.write(t, "model.gguf")
			result, err := p.Plan(t.Context(), c.r)
			if err != nil {
				t.Fatal(err)
			}
			result.Hardware.Cores = 4
			result.Estimate.Resident -= result.Estimate.Resident - result.Estimate.PerDevice[0].Total // of this processor
			got, err := json.MarshalIndent(result, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(string(got), c.r.Path, "/models/model.gguf") + "\n"
			golden := filepath.Join("testdata", "plan_"+name+".json")
			if *update {
				if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || text != string(want) {
				t.Errorf("%v; run with -update to see the difference:\n%s", err, text)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	p := New(Options{Memory: fixed})
	_, err := p.Plan(t.Context(), Request{Path: filepath.Join(t.TempDir(), "none.gguf")})
	wantFault(t, err, wire.CodeModelMissing, "none.gguf")
	clip := ggufShape{arch: "clip", vocab: 10, embd: 64, layers: 1, heads: 2, headsKV: 2, ff: 128}
	_, err = p.Plan(t.Context(), Request{Path: clip.write(t, "mmproj.gguf")})
	wantFault(t, err, wire.CodeModelPlan, "vision projector")
	small := New(Options{Memory: func(context.Context) (machine.Memory, error) {
		return machine.Memory{Total: 1 << 30, Available: 300 << 20}, nil
	}})
	_, err = small.Plan(t.Context(), Request{Path: llama8.write(t, "large.gguf")})
	wantFault(t, err, wire.CodeModelPlan, "Ways out")
	broken := New(Options{Memory: func(context.Context) (machine.Memory, error) { return machine.Memory{}, errors.New("no /proc") }})
	_, err = broken.Plan(t.Context(), Request{Path: llama8.write(t, "large.gguf")})
	wantFault(t, err, wire.CodeInternal, "no /proc")
}

func TestPlanWarns(t *testing.T) {
	clip := ggufShape{arch: "clip", vocab: 10, embd: 64, layers: 1, heads: 2, headsKV: 2, ff: 128,
		more: []pair{{"clip.projector_type", "mlp"}}}
	projector := clip.write(t, "mmproj.gguf")
	language := small.write(t, "small.gguf")
	failing := func(context.Context) (string, error) { return "", errors.New("exit status 127") }
	for name, c := range map[string]struct {
		o    Options
		args []string
		says string
	}{
		"nothing":          {Options{}, []string{"--threads", "4"}, ""},
		"server is broken": {Options{ListDevices: failing}, nil, "exit status 127"},
		"overridden":       {Options{}, []string{"--ctx-size=5"}, "--ctx-size, which overrides the plan"},
		"projector":        {Options{}, []string{"--mmproj", projector}, ""},
		"no projector":     {Options{}, []string{"--mmproj=" + language}, "is no vision projector"},
		"lost projector":   {Options{}, []string{"-mm", projector + ".none"}, "is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Memory = fixed
			result, err := New(c.o).Plan(t.Context(), Request{Path: language, Args: c.args})
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(result.Warnings, "\n"); !strings.Contains(all, c.says) || c.says == "" && all != "" {
				t.Errorf("warns %q", all)
			}
		})
	}
	with, err1 := New(Options{Memory: fixed}).Plan(t.Context(), Request{Path: language, Args: []string{"-mm", projector}})
	without, err2 := New(Options{Memory: fixed}).Plan(t.Context(), Request{Path: language})
	if err := errors.Join(err1, err2); err != nil || with.Estimate.Weights <= without.Estimate.Weights {
		t.Errorf("the projector weighs nothing: %v", err)
	}
}

// TestEmbedding: a text goes through an embedding model in one piece, and nothing is cached.
func TestEmbedding(t *testing.T) {
	bert := ggufShape{arch: "bert", vocab: 300, embd: 64, layers: 2, heads: 2, headsKV: 2, ff: 128, ctx: 1024, more: []pair{{"bert.attention.causal", false}}}
	result, err := New(Options{Memory: fixed}).Plan(t.Context(), Request{Path: bert.write(t, "bert.gguf")})
	if err != nil {
		t.Fatal(err)
	}
	if result.Plan.CtxSize != 1024 || result.Plan.UBatchSize != 1024 || result.Estimate.KVCache != 0 || !slices.Contains(result.Command, "--embedding") {
		t.Errorf("%+v", result)
	}
}

// TestUnknownFlagsAreLeftOut with their values, from the command too, and said so.
func TestUnknownFlagsAreLeftOut(t *testing.T) {
	path := ggufShape{vocab: 300, embd: 64, layers: 2, heads: 2, headsKV: 2, ff: 128, ctx: 1024}.write(t, "old.gguf")
	result, err := New(Options{Memory: fixed}).Plan(t.Context(), Request{Path: path, Unknown: LeftOut("")})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-c", "4096", "-np", "4", "-ngl", "0", "-b", "2048", "-ub", "512", "-ctk", "f16", "-ctv", "f16"}
	if got := result.Plan.Flags(); !slices.Equal(got, want) {
		t.Errorf("the flags are %q", got)
	}
	if !slices.Equal(result.Command, append([]string{"llama-server", "-m", path}, want...)) {
		t.Errorf("the command is %q", result.Command)
	}
	if all := strings.Join(result.Warnings, "\n"); !strings.Contains(all, "doesn't know -cram, --fit") {
		t.Errorf("warns %q", all)
	}
	known := "usage:\n" + strings.Join(used, " X\n") + " X\n"
	for name, c := range map[string]struct {
		help string
		want []string
	}{
		"all":         {known, nil},
		"old":         {strings.ReplaceAll(known, "-ctxcp", "-x"), []string{"-ctxcp"}},
		"none":        {"", newFlags},
		"a wrapper's": {"usage: start.sh [MODEL]\n--fit on", newFlags},
	} {
		if got := LeftOut(c.help); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestServerKnowsTheFlags reads the real server's help.
func TestServerKnowsTheFlags(t *testing.T) {
	binary := os.Getenv("LLAMA_SERVER")
	if binary == "" {
		t.Skip("LLAMA_SERVER is not set: make test builds llama-server and sets it")
	}
	help, err := exec.Command(binary, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	if unknown := UnknownFlags(string(help)); len(unknown) > 0 {
		t.Errorf("llama-server doesn't know %q", unknown)
	}
	if unknown := UnknownFlags("--fit-target, --hostname\n-c,    --ctx-size N"); slices.Contains(unknown, "-c") || !slices.Contains(unknown, "--fit") || !slices.Contains(unknown, "--host") {
		t.Errorf("a short help lacks %q", unknown)
	}
	list, err := exec.Command(binary, "--list-devices").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := machine.ParseDevices(string(list)); err != nil {
		t.Error(err)
	}
}
