package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// scalarPaths lists the paths of all values that stand outside lists and maps of structures.
func scalarPaths(prefix string, of reflect.Type) []string {
	var paths []string
	for i := range of.NumField() {
		field := of.Field(i)
		path := join(prefix, field.Tag.Get("yaml"))
		switch {
		case field.Type.Kind() == reflect.Struct:
			paths = append(paths, scalarPaths(path, field.Type)...)
		case field.Tag.Get("env") != "-":
			paths = append(paths, path)
		}
	}
	return paths
}

// TestVariablesFollowPaths: the tags spell for every single value the name that the rule gives, and
// no name stands for two values.
func TestVariablesFollowPaths(t *testing.T) {
	known, err := knownVariables()
	if err != nil {
		t.Fatal(err)
	}
	paths := scalarPaths("", reflect.TypeFor[Config]())
	for _, path := range paths {
		if !known[variableOf(path)] {
			t.Errorf("%s has no variable %s", path, variableOf(path))
		}
	}
	if len(paths) != len(known) {
		t.Errorf("%d values, %d variables", len(paths), len(known))
	}
}

func TestOverride(t *testing.T) {
	loaded := mustLoad(t, "output: {on_full: drop, ascii: true, queue_frames: 7}\nllama_server: {args: [x]}\n",
		"SLUICE_OUTPUT_ON_FULL=coalesce", "SLUICE_OUTPUT_ASCII=false", "SLUICE_OUTPUT_PENDING_BYTES=1MiB",
		"SLUICE_LLAMA_SERVER_ARGS=--threads,4", "SLUICE_APP_APPROVAL_TIMEOUT=5s", "SLUICE_MEMORY_TOP_K=9",
		"SLUICE_LLAMA_SERVER_API_KEY=k", "SLUICE_LOG_LEVEL=", "SLUICE_TYPO=1", "SLUICE_MODELS=x", "SLUICE_0_NAME=x", "SLUICEX=1")
	c := loaded.Config
	want := Default()
	want.Output.PendingBytes, want.Output.QueueFrames = 1<<20, 7
	want.LlamaServer.Args, want.LlamaServer.APIKey = []string{"--threads", "4"}, "k"
	want.App.ApprovalTimeout, want.Memory.TopK = 5*time.Second, 9
	want.App.DataDir = c.App.DataDir
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	warnings := []string{
		"SLUICE_0_NAME: unknown variable, ignored", "SLUICE_MODELS: unknown variable, ignored", "SLUICE_TYPO: unknown variable, ignored",
	}
	if !reflect.DeepEqual(loaded.Warnings, warnings) {
		t.Errorf("warnings %q", loaded.Warnings)
	}
}

func TestVariablesAlone(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		variable string
		found    bool
		agents   int
	}{
		{"SLUICE_LLAMA_SERVER_URL=http://localhost:1", true, 1}, {"SLUICE_LOG_LEVEL=debug", true, 0},
		{"SLUICE_LLAMA_SERVER_URL=", false, 0}, {"SLUICE_UNKNOWN=x", false, 0}, {"SLUICE_GUARDIAN=x", false, 0},
	} {
		loaded, err := Load(Options{Dir: dir, Environ: []string{test.variable}, Ignore: []string{"SLUICE_GUARDIAN"}})
		if err != nil {
			t.Fatal(err)
		}
		if loaded.Found != test.found || len(loaded.Config.Agents) != test.agents || loaded.Missing != filepath.Join(dir, fileName) {
			t.Errorf("%s: %+v", test.variable, loaded)
		}
		if warned := len(loaded.Warnings) > 0; warned != (test.variable == "SLUICE_UNKNOWN=x") {
			t.Errorf("%s: warnings %q", test.variable, loaded.Warnings)
		}
	}
	loaded, err := Load(Options{Dir: dir, Path: "no.yaml", Environ: []string{"SLUICE_LOG_LEVEL=debug"}})
	if err != nil || !reflect.DeepEqual(loaded.Warnings, []string{"no.yaml: no such file"}) {
		t.Errorf("%+v, %v", loaded, err)
	}
}

func TestVariableFaults(t *testing.T) {
	for variable, reason := range map[string]string{
		"SLUICE_OUTPUT_ON_FULL=secret":                  "must be coalesce or drop",
		"SLUICE_OUTPUT_ASCII=secret":                    "must be true or false",
		"SLUICE_OUTPUT_QUEUE_FRAMES=secret":             "must be a whole number",
		"SLUICE_OUTPUT_QUEUE_FRAMES=0":                  "must be at least 1",
		"SLUICE_OUTPUT_PENDING_BYTES=secret":            size,
		"SLUICE_OUTPUT_PENDING_BYTES=-5":                "must not be negative",
		"SLUICE_OUTPUT_EOF_TIMEOUT=secret":              duration,
		"SLUICE_OUTPUT_EOF_TIMEOUT=0s":                  "must be longer than 0s",
		"SLUICE_LLAMA_SERVER_URL=http://secret@h":       serverURL,
		"SLUICE_LLAMA_SERVER_API_KEY=secret secret":     "must not hold spaces, control or non-ASCII characters",
		"SLUICE_LLAMA_SERVER_ARGS=-c,--host=secret":     "--host is set by the engine and can't be given here",
		"SLUICE_INPUT_MAX_PENDING_REQUESTS=99999999999": "is too large",
	} {
		name, _, _ := strings.Cut(variable, "=")
		for _, text := range []string{"", "# a file too\n"} {
			_, err := load(t, text, variable)
			if want := name + ": " + reason; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

// TestVariableRepairsFile: what a variable overrides is judged by the variable's value.
func TestVariableRepairsFile(t *testing.T) {
	if got := mustLoad(t, "log: {level: loud}\n", "SLUICE_LOG_LEVEL=warn").Config.Log.Level; got != "warn" {
		t.Errorf("got %s", got)
	}
}
