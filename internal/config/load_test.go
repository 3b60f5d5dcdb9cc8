package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestDocumentedDefaults: the sample of the documentation spells the defaults; each list element of
// it says the same as an element that gives nothing.
func TestDocumentedDefaults(t *testing.T) {
	full, err := Load(Options{Path: "testdata/full.yaml", Environ: []string{"HOME=/home/someone"}})
	if err != nil {
		t.Fatal(err)
	}
	short := mustLoad(t, `
models: [{path: model.gguf}]
mcp_servers:
  fs: {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .]}
  web: {url: "https://example.com/mcp", requires_approval: ["web/delete_*"]}
`)
	for _, loaded := range []*Loaded{full, short} { // what is relative to the file, and nil against empty
		loaded.Config.Models[0].Path = filepath.Base(loaded.Config.Models[0].Path)
		loaded.Config.LlamaServer.Args = nil
		for name, server := range loaded.Config.MCPServers {
			server.Env, server.Headers = nil, nil
			loaded.Config.MCPServers[name] = server
		}
	}
	if !reflect.DeepEqual(full.Config, short.Config) {
		t.Errorf("full\n%+v\nshort\n%+v", full.Config, short.Config)
	}
}

func TestEmptyFiles(t *testing.T) {
	want := Default()
	want.App.DataDir = "/home/someone/.local/share/sluice"
	for _, text := range []string{
		"", "\n", "# nothing\n", "---\n", "\ufeff", "{}\n", "~\n", "output:\n", "output:\r\n  # on_full: drop\r\nlog:\r\n",
		"output: {on_full: null}\n", "models:\nagents: []\n",
	} {
		loaded := mustLoad(t, text)
		loaded.Config.Agents = nil // an empty list is one too
		if !loaded.Found || loaded.Missing != "" || !reflect.DeepEqual(loaded.Config, want) {
			t.Errorf("%q: %+v", text, loaded)
		}
	}
}

func TestForms(t *testing.T) {
	loaded := mustLoad(t, "\ufeff# from Windows\r\nmodels:\r\n- &small\r\n  path: /m.gguf\r\n  gpu_layers: 12\r\n"+
		"agents:\r\n- name: a\r\n  temperature: 1\r\n  tools: []\r\n  system_prompt: |\r\n    One.\r\n    Two.\r\n"+
		"- {name: b, temperature: .5}\r\ninput: {max_line_bytes: 0x10, max_pending_bytes: 1_024}\r\n"+
		"app: {approval_timeout: &t 1m30s}\r\noutput: {eof_timeout: *t}\r\nllama_server: {idle_timeout: 0}\r\n"+
		"mcp_servers: {\"web\": {url: http://h/?key=k}, ? fs : {command: x, requires_approval: false}}\r\n")
	c := loaded.Config
	for name, ok := range map[string]bool{
		"gpu_layers":        c.Models[0].GPULayers == "12",
		"whole temperature": *c.Agents[0].Temperature == 1,
		"temperature":       *c.Agents[1].Temperature == 0.5,
		"no tools":          c.Agents[0].Tools != nil && len(c.Agents[0].Tools) == 0,
		"all tools":         reflect.DeepEqual(c.Agents[1].Tools, []string{"*"}),
		"prompt":            c.Agents[0].SystemPrompt == "One.\nTwo.\n",
		"hexadecimal":       c.Input.MaxLineBytes == 16,
		"underscores":       c.Input.MaxPendingBytes == 1024,
		"alias":             c.App.ApprovalTimeout == 90*time.Second && c.Output.EOFTimeout == 90*time.Second,
		"bare zero":         c.LlamaServer.IdleTimeout == 0,
		"no approval":       !c.MCPServers["fs"].RequiresApproval.All,
		"approval":          c.MCPServers["web"].RequiresApproval.All,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestServerURLs(t *testing.T) {
	for _, url := range []string{"", "demo:", "http://localhost:8080", "https://h/base", "http://[::1]:80", "unix:///run/x.sock"} {
		if got := mustLoad(t, "llama_server: {url: '"+url+"'}\n").Config.LlamaServer.URL; got != url {
			t.Errorf("got %s, want %s", got, url)
		}
	}
}

func TestModelsAndAgents(t *testing.T) {
	for _, test := range []struct{ yaml, models, agents string }{
		{"", "", ""},
		{"models: [{name: a, path: /x}, {name: b, path: /y}]", "a b", "assistant:a"},
		{"models: [{name: a, path: /x}, {name: b, path: /y}]\nagents: [{name: one}, {name: two, model: b}]", "a b", "one:a two:b"},
		{"llama_server: {url: 'demo:'}", "default", "assistant:default"},
		{"llama_server: {url: 'demo:'}\nagents: [{name: one, model: q}, {name: two}, {name: three, model: p}, {name: four, model: q}]", "q p", "one:q two:q three:p four:q"},
		{"llama_server: {url: 'demo:'}\nmodels: [{name: a}]", "a", "assistant:a"},
		{"agents: [{name: one}]", "", "one:"},
	} {
		c := mustLoad(t, test.yaml).Config
		var models, agents []string
		for _, model := range c.Models {
			models = append(models, model.Name)
		}
		for _, agent := range c.Agents {
			agents = append(agents, agent.Name+":"+agent.Model)
		}
		if strings.Join(models, " ") != test.models || strings.Join(agents, " ") != test.agents {
			t.Errorf("%q: got models %v, agents %v", test.yaml, models, agents)
		}
	}
}

func TestDemo(t *testing.T) {
	for _, dir := range []string{t.TempDir(), writeFile(t, "llama_server: {url: 'http://elsewhere'}\nmodels: [{name: default}]\n")} {
		loaded, err := Load(Options{Dir: dir, Environ: []string{}, Demo: true})
		if err != nil {
			t.Fatal(err)
		}
		c := loaded.Config
		if !loaded.Found || c.LlamaServer.URL != DemoURL || len(c.Agents) != 1 || c.Agents[0].Name != "assistant" || c.Agents[0].Model != "default" {
			t.Errorf("%+v", loaded)
		}
	}
}

func TestRelativePaths(t *testing.T) {
	text := "models: [{path: m/x.gguf}, {name: b, path: /abs.gguf}]\nllama_server: {binary: ./bin/llama}\n" +
		"mcp_servers: {a: {command: x, cwd: .}, b: {command: x}}\napp: {data_dir: ../data}\n"
	dir := writeFile(t, text)
	for _, o := range []Options{
		{Dir: dir},
		{Dir: filepath.Dir(dir), Path: filepath.Join(filepath.Base(dir), fileName)},
		{Dir: "/", Path: filepath.Join(dir, fileName)},
	} {
		o.Environ = []string{}
		loaded, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		c := loaded.Config
		got := []string{c.Models[0].Path, c.Models[1].Path, c.LlamaServer.Binary, c.MCPServers["a"].Cwd, c.MCPServers["b"].Cwd, c.App.DataDir}
		want := []string{dir + "/m/x.gguf", "/abs.gguf", dir + "/bin/llama", dir, "", filepath.Dir(dir) + "/data"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	loaded, err := Load(Options{Dir: "/somewhere", Environ: []string{"SLUICE_LLAMA_SERVER_BINARY=bin/llama", "SLUICE_APP_DATA_DIR=data"}})
	if err != nil || loaded.Config.LlamaServer.Binary != "/somewhere/bin/llama" || loaded.Config.App.DataDir != "/somewhere/data" {
		t.Errorf("%+v, %v", loaded, err)
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := writeFile(t, strings.Repeat("# much\n", maxFileBytes/7+1))
	folder := filepath.Join(dir, "folder.yaml")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, reason := range map[string]string{
		"folder.yaml":        "is a directory",
		"config.yaml":        "longer than 256 KiB",
		"config.yaml/x.yaml": "not a directory",
	} {
		_, err := Load(Options{Dir: dir, Path: path, Environ: []string{}})
		var fault *Error
		if want := path + ": can't be read: " + reason; !errors.As(err, &fault) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
