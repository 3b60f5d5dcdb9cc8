package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/config"
	"sluice/stages/execute/planner"
	"sluice/stages/execute/planner/doctor"
	"sluice/stages/execute/planner/machine"
)

// fixedPlan is a plan of a large model on a machine with a GPU. Its names are as hostile as files may be.
func fixedPlan() *planner.Result {
	const gib = 1 << 30
	return &planner.Result{
		Model: planner.Model{
			Name: "large\x1b[2J\u0085", Path: "/models/it's \x1b]0;title\a large.gguf", Architecture: "qwen3moe", Parameters: 30_532_122_624,
			Quantization: "Q4_K_M", FileBytes: 18_556_686_912, Parts: 2, TrainedContext: 40960, Layers: 48, Experts: 128, ExpertsUsed: 8, ChatTemplate: true,
		},
		Plan: planner.Plan{
			CtxSize: 16384, GPULayers: 40, Parallel: 1, BatchSize: 2048, UBatchSize: 512, CacheTypeK: "q8_0", CacheTypeV: "q8_0", CacheRAMMiB: 4096,
		},
		Estimate: planner.Estimate{Weights: 17 * gib, KVCache: gib, ComputeBuffers: gib / 2, Overhead: gib / 4, Total: 19 * gib, PerDevice: []planner.DeviceEstimate{
			{Device: "host", Layers: 9, Weights: 3 * gib, KVCache: gib / 8, ComputeBuffers: 300 << 20, Overhead: 300 << 10, Total: 4 * gib},
			{Device: "CUDA0", Layers: 40, Weights: 14 * gib, KVCache: 900 << 20, ComputeBuffers: 300 << 20, Overhead: 200 << 20, Total: 15 * gib},
		}},
		Hardware: planner.Hardware{TotalMemory: 64 * gib, AvailableMemory: 60 * gib, Cores: 8, GPUs: []machine.GPU{{Name: "CUDA0", Description: "a GPU", TotalMemory: 16 * gib, FreeMemory: 15 * gib}}},
		Fits:     true,
		Reductions: []planner.Reduction{
			{Setting: "ctx_size", From: 32768, To: 16384, Reason: "so that it fits into the memory", Configured: true},
			{Setting: "cache_type_k", From: "f16", To: "q8_0", Reason: "so that it fits into the memory"},
		},
		Command:  []string{"llama-server", "-m", "/models/it's \x1b]0;title\a large.gguf", "-c", "16384", "-ngl", "40", "--some-token", "****", ""},
		Warnings: []string{"the model has no chat\ntemplate \x1b[31m"},
	}
}

// fixedOpenPlan is a plan of a file of which little is known, and which is too large.
func fixedOpenPlan() *planner.Result {
	return &planner.Result{
		Model:    planner.Model{Name: "odd", Path: "/models/odd.gguf", Architecture: "new", Parameters: 12345, Quantization: "unknown", FileBytes: 90 << 30, Parts: 1},
		Estimate: planner.Estimate{PerDevice: []planner.DeviceEstimate{{Device: "host", Weights: 90 << 30, Total: 90 << 30}}},
		Hardware: planner.Hardware{AvailableMemory: 8 << 30},
		Command:  []string{"llama-server", "-m", "/models/odd.gguf"},
		Warnings: []string{"the model's metadata can't be understood; its memory is not estimated, the configured values are used"},
	}
}

func fixedReport() doctor.Report {
	return doctor.Report{Status: doctor.Fail, Checks: []doctor.Finding{
		{ID: "configuration", Status: doctor.OK, Message: "/home/a/config.yaml: 2 models, 1 agent"},
		{ID: "llama_server", Status: doctor.Warn, Message: "/usr/bin/llama-server (version: 5000) doesn't know --fit, and is started without", Hint: "update llama.cpp"},
		{ID: "model:l\x1b[2Jarge", Status: doctor.Fail, Message: "the model file \"/x\n.gguf\" is not there", Hint: "correct\u009b31m models[].path"},
	}}
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil || got != string(want) {
		t.Errorf("%s: %v, got\n%s", name, err, got)
	}
}

// TestWhatPeopleSee of fixed facts, without colour and with it.
func TestWhatPeopleSee(t *testing.T) {
	for name, print := range map[string]func(*painter){
		"plan":   func(p *painter) { p.plan(fixedPlan()) },
		"open":   func(p *painter) { p.plan(fixedOpenPlan()) },
		"doctor": func(p *painter) { p.report(fixedReport()) },
	} {
		var plain, coloured strings.Builder
		print(&painter{out: &plain})
		golden(t, name+".txt", plain.String())
		p := &painter{out: &coloured, colour: true}
		print(p)
		golden(t, name+"-colour.txt", coloured.String())
		var uncoloured stripper
		if got := string(uncoloured.append(nil, coloured.String())); got != plain.String() {
			t.Errorf("%s: without its colours it is\n%s", name, got)
		}
		if strings.ContainsAny(plain.String(), "\x1b\a\r\u0085\u009b") {
			t.Errorf("%s: there are control codes in %q", name, plain.String())
		}
		full := &painter{out: fullDisk{}}
		if print(full); full.err == nil {
			t.Errorf("%s: nobody noticed that nothing was written", name)
		}
	}
}

// TestJSONForPeople is what hosts get, in one clean line.
func TestJSONForPeople(t *testing.T) {
	var out strings.Builder
	if err := showPlan(&out, fixedPlan(), true); err != nil {
		t.Error(err)
	}
	var read planner.Result
	if err := json.Unmarshal([]byte(out.String()), &read); err != nil || read.Model.Name != fixedPlan().Model.Name || read.Command[2] != fixedPlan().Command[2] {
		t.Errorf("got %+v, %v", read, err)
	}
	out.Reset()
	if err := printReport(&out, fixedReport(), true); err != nil || strings.Count(out.String(), "\n") != 1 || strings.ContainsAny(out.String(), "\u0085\u009b\x1b") {
		t.Errorf("got %q, %v", out.String(), err)
	}
	var failed *failure
	if err := showPlan(&out, fixedOpenPlan(), false); !errors.As(err, &failed) || failed.status != exitFailed || failed.message != "" {
		t.Errorf("a plan that doesn't fit: %v", err)
	}
}

func TestShellWords(t *testing.T) {
	for want, words := range map[string][]string{
		"a -c 5 /x/y.gguf":        {"a", "-c", "5", "/x/y.gguf"},
		`'' 'a b' 'it'\''s' '$x'`: {"", "a b", "it's", "$x"},
	} {
		if got := shellWords(words); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMayUse(t *testing.T) {
	for _, c := range []struct {
		globs []string
		want  bool
	}{
		{nil, false}, {[]string{"*"}, true}, {[]string{"fs/*"}, true}, {[]string{"f?/read"}, true}, {[]string{"fs*"}, true}, {[]string{"*read"}, true},
		{[]string{"fs"}, true}, {[]string{"fsx/*"}, false}, {[]string{"web/*"}, false}, {[]string{"web/*", "f*/x"}, true}, {[]string{"g*"}, false},
	} {
		if got := mayUse(c.globs, "fs"); got != c.want {
			t.Errorf("%q: got %t", c.globs, got)
		}
	}
}

// TestWhatAnAgentNeeds: its model and its servers; everything when nobody is named.
func TestWhatAnAgentNeeds(t *testing.T) {
	settings := config.Default()
	settings.Models = []config.Model{{Name: "a", Path: "a"}, {Name: "b", Path: "b"}, {Name: "e", Path: "e"}}
	settings.Agents = []config.Agent{{Name: "one", Model: "a", Tools: []string{"*"}}, {Name: "two", Model: "b", Tools: []string{"web/*"}}}
	settings.MCPServers = map[string]config.MCPServer{"fs": {}, "web": {}}
	settings.Memory.EmbeddingModel = "e"
	for agent, want := range map[string]string{
		"":    "configuration llama_server model:a model:b model:e data_dir mcp:fs mcp:web keychain stdout orphans clock",
		"two": "configuration llama_server model:b model:e data_dir mcp:web keychain stdout orphans clock",
	} {
		x := examining{examination: newExamination(&config.Loaded{Config: settings}, nil, nil, nil)}
		var got []string
		for _, check := range x.checks(agent) {
			got = append(got, check.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %s", agent, got)
		}
	}
}
