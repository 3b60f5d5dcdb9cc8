package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// planted is longer than what a message shows of a key, as real keys are.
const planted = "sk-planted-0123456789abcdefghij"

// FuzzLoad: whatever stands around a secret, Load returns; an error is one line without the secret;
// a configuration is complete and renders to YAML that reads back as the same.
func FuzzLoad(f *testing.F) {
	sample, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, place := range []string{
		"llama_server:\n  api_key: ", "debug: {token: ", "mcp_servers: {a: {url: 'http://h', headers: {X: ",
		"mcp_servers:\n  a: {command: x, env: {X: \"", "llama_server: {api_key:", "log: {level: ", "output: {on_full: drop}\n? ",
		"llama_server:\n  url: http://", "models: [{path: x, gpu_layers: ", "a: &x [*x, ", "!!binary ", "input: {max_line_bytes: 1", "log:\n\t- ",
	} {
		f.Add(place, "}}}\n")
		f.Add(place, "\nlog: {level: loud}\n")
	}
	f.Add(string(sample), "")
	f.Add("", string(sample))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 4096 {
			return // the parser's time grows with the square of the length
		}
		path := filepath.Join(dir, fileName)
		if err := os.WriteFile(path, []byte(before+planted+after), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(Options{Dir: dir, Environ: []string{"HOME=/home/someone"}})
		if err != nil {
			checkMessage(t, err)
			return
		}
		if url := loaded.Config.LlamaServer.URL; url != "" && len(loaded.Config.Agents) == 0 {
			t.Errorf("no agent for a server to attach to")
		}
		roundTrip(t, loaded.Config)
	})
}

func checkMessage(t *testing.T, err error) {
	t.Helper()
	var fault *Error
	text := err.Error()
	switch {
	case !errors.As(err, &fault):
		t.Errorf("%T is no *Error", err)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		t.Errorf("not one line: %q", text)
	case strings.Contains(text, planted):
		t.Errorf("the secret stands in %q", text)
	case fault.Reason == "" || fault.File == "" && fault.Key == "":
		t.Errorf("nothing named: %q", text)
	}
}
