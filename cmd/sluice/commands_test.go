package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a command in this process, in an empty folder, and returns what it printed.
func command(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("SLUICE_CONFIG", "")
	var out, err strings.Builder
	status = run(context.Background(), args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"bogus"}, {"server-stdio"}, {"serve-stdio", "extra"}, {"serve"}, {"serve", "--stdio", "extra"}, {"serve", "--stdin"}, {"chat", "a", "b"}, {"model"}, {"--version"}, {"config", "--bogus"}, {"version", "x"},
	} {
		status, stdout, stderr := command(t, "", args...)
		if status != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, stdout %q, stderr %q", args, status, stdout, stderr)
		}
	}
}

func TestWhatIsAskedForFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"config"}, {"version"}, {"version", "--json"}, {"model", "x.gguf"}, {"model", filepath.Join("none", "x.gguf")}} {
		var stderr strings.Builder
		status := run(context.Background(), args, strings.NewReader(""), fullDisk{}, &stderr)
		if status != exitFailed || strings.Count(stderr.String(), "\n") != 1 || strings.Contains(stderr.String(), "--help") {
			t.Errorf("%q: status %d, stderr %q", args, status, stderr.String())
		}
	}
}

func TestModelWritesAFile(t *testing.T) {
	status, stdout, stderr := command(t, "", "model", "x.gguf")
	if info, err := os.Stat("x.gguf"); status != exitDone || err != nil || info.Size() < 1<<20 || !strings.Contains(stdout, "x.gguf") {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestVersion(t *testing.T) {
	_, text, _ := command(t, "", "version")
	if words := strings.Split(text, " "); len(words) < 4 || words[0] != "sluice" || words[1] != version || strings.Contains(text, "  ") {
		t.Errorf("got %q", text)
	}
	if _, text, _ = command(t, "", "version", "--json"); !strings.Contains(text, `"version":"`+version+`"`) {
		t.Errorf("got %q", text)
	}
}

func TestConfigShowsWhatIsInEffect(t *testing.T) {
	t.Setenv("SLUICE_OUTPUT_ON_FULL", "drop")
	t.Setenv("SLUICE_LLAMA_SERVER_API_KEY", "hunter2")
	t.Setenv("SLUICE_TYPO", "hunter2")
	status, stdout, stderr := command(t, "", "config", "--demo")
	if status != exitDone || !strings.Contains(stdout, "on_full: drop") || !strings.Contains(stdout, "config.yaml") || !strings.Contains(stdout, `"demo:"`) {
		t.Errorf("status %d, stdout %q", status, stdout)
	}
	if !strings.Contains(stderr, "SLUICE_TYPO") || strings.Contains(stdout+stderr, "hunter2") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

// A variable that names no model doesn't make up for the file, and the answer says what is missing.
func TestWhatIsMissingIsSaid(t *testing.T) {
	const chat = `{"id":1,"method":"chat","params":{"input":"hi"}}`
	for name, c := range map[string]struct {
		variable, file string
		args           []string
		code, word     string
	}{
		"no file":                  {args: nil, code: "config_missing", word: "config.yaml"},
		"no file but a variable":   {variable: "warn", code: "config_missing", word: "config.yaml"},
		"named file and variable":  {variable: "warn", args: []string{"--config", "there.yaml"}, code: "config_missing", word: "there.yaml"},
		"a file without a model":   {file: "log: {level: warn}\n", code: "model_missing", word: "llama_server.url"},
		"an agent without a model": {file: "agents: [{name: a}]\n", code: "model_missing", word: "llama_server.url"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			t.Setenv("SLUICE_CONFIG", "")
			t.Setenv("SLUICE_LOG_LEVEL", c.variable)
			var out, stderr strings.Builder
			status := run(context.Background(), append([]string{"serve-stdio"}, c.args...), strings.NewReader(chat), &out, &stderr)
			if answer := out.String(); status != exitDone || !strings.Contains(answer, `"code":"`+c.code+`"`) || !strings.Contains(answer, c.word) {
				t.Errorf("status %d, stdout %q, stderr %q", status, answer, stderr.String())
			}
		})
	}
}
