package config

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

func TestMaskedHidesSecrets(t *testing.T) {
	loaded := mustLoad(t, `
llama_server: {api_key: hunter2, args: [--hf-token, hunter2, --HF-Token=hunter2, -hft, hunter2, --threads, "4"]}
mcp_servers:
  a: {command: x, args: [-e, TOKEN=hunter2, 'db://me:hunter2@host', --header, 'Authorization: Bearer hunter2', --token], env: {A: hunter2, B: ""}}
  b: {url: "https://h/mcp?key=hunter2", headers: {Authorization: Bearer hunter2}}
debug: {token: hunter2}
`)
	text := string(loaded.Config.Masked())
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret stands in\n%s", text)
	}
	for _, want := range []string{
		"  api_key: \"****\"\n", "    - \"--hf-token\"\n    - \"****\"\n    - \"--HF-Token=****\"\n    - \"-hft\"\n    - \"****\"\n    - \"--threads\"\n    - \"4\"\n",
		"      A: \"****\"\n      B: \"\"\n", "    url: \"https://h/mcp?****\"\n", "      Authorization: \"****\"\n", "  token: \"****\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if loaded.Config.LlamaServer.Args[1] != "hunter2" || loaded.Config.MCPServers["a"].Env["A"] != "hunter2" {
		t.Error("masking changed the configuration itself")
	}
	if text := string(mustLoad(t, "").Config.Masked()); !strings.Contains(text, "api_key: \"\"\n") {
		t.Errorf("an empty secret isn't shown as empty in\n%s", text)
	}
}

func TestPrintingHidesSecrets(t *testing.T) {
	var log bytes.Buffer
	config := mustLoad(t, "llama_server: {api_key: hunter2}\n").Config
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", config)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", &config)
	for _, text := range []string{log.String(), fmt.Sprint(config), fmt.Sprintf("%+v", &config)} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "api_key") {
			t.Errorf("got %s", text)
		}
	}
}

func TestMaskedIsReadable(t *testing.T) {
	text := string(mustLoad(t, "models: [{path: /m.gguf}]\nagents: [{tools: [a, b]}]\n").Config.Masked())
	for _, want := range []string{
		"models:\n  - name: default\n    path: /m.gguf\n", "gpu_layers: auto\n", "    tools:\n      - a\n      - b\n", "temperature: null\n",
		"startup_timeout: 2m\n", "stall_threshold: 250ms\n", "max_line_bytes: 16MiB\n", "merge_bytes: 32KiB\n", "mcp_servers: {}\n", "args: []\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// normal drops the difference between nil and empty, which YAML doesn't know.
func normal(c Config) Config {
	if len(c.LlamaServer.Args) == 0 {
		c.LlamaServer.Args = nil
	}
	if len(c.Models) == 0 {
		c.Models = nil
	}
	if len(c.Agents) == 0 {
		c.Agents = nil
	}
	servers := map[string]MCPServer{}
	for name, s := range c.MCPServers {
		if len(s.Args) == 0 {
			s.Args = nil
		}
		if len(s.Env) == 0 {
			s.Env = nil
		}
		if len(s.Headers) == 0 {
			s.Headers = nil
		}
		if len(s.RequiresApproval.Globs) == 0 {
			s.RequiresApproval.Globs = nil
		}
		servers[name] = s
	}
	c.MCPServers = servers
	return c
}

// roundTrip reports whether the rendered configuration reads back as the same one. What is masked
// reads back masked, so the second rendering is compared with the first as well.
func roundTrip(t *testing.T, c Config) {
	t.Helper()
	text := string(c.Masked())
	loaded, err := load(t, text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again := string(loaded.Config.Masked()); again != text {
		t.Fatalf("first\n%s\nthen\n%s", text, again)
	}
	if got, want := normal(loaded.Config), normal(c); !hasSecrets(c) && !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v\nfrom\n%s", got, want, text)
	}
}

func hasSecrets(c Config) bool { return strings.Contains(string(c.Masked()), mask) }

func TestMaskedReadsBack(t *testing.T) {
	for _, text := range []string{
		"", "llama_server: {url: 'demo:', api_key: k}", "app: {data_dir: /tmp, approval_timeout: 1h30m}\ninput: {max_line_bytes: 1000}",
		"models: [{path: /m, gpu_layers: 3}, {name: 'yes', path: '/a b'}]\nagents: [{temperature: 0.25, tools: [], system_prompt: \" a: b\\n\\t# c\\n\\n\"}, {name: '1', tools: ['!x', '-']}]",
		"mcp_servers: {a.b: {command: '@x', args: [-y, '', null?], requires_approval: [a.b/*, '*']}, '0x1': {url: 'http://h', headers: {'null': ''}, requires_approval: false}}",
		"llama_server: {args: [\"\\u00e9\\u2028\\u0085\\a\\e\\x7f\", \"'\\\"\\\\\", 😀, ~x, '%', '{}', '= 5']}",
	} {
		roundTrip(t, mustLoad(t, text).Config)
	}
}
