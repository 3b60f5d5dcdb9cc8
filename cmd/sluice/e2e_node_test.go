//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit/fakellama"
)

// TestANodeHost: Node gives the engine socket pairs, and splits lines by readline's rules.
func TestANodeHost(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: make test installs it")
	}
	server, home := fakellama.Start(t, fakellama.Options{}), t.TempDir()
	config := filepath.Join(home, "config.yaml")
	write(t, config, "llama_server: {url: '"+server.URL+"'}\n")
	command := exec.Command(node, filepath.Join("testdata", "host.mjs"), built(t), "serve", "--stdio", "--config", config)
	command.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "DEX_CLI_HOME="+filepath.Join(home, "dex"))
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	text := fakellama.Text("n=500")
	seen := gjson.ParseBytes(out)
	for path, want := range map[string]string{
		"protocolVersion": "1", "ends": `["chat/complete","chat/complete"]`, "cancelled": "true", "cancelEnd": `"chat/error"`,
		"activeChats": "0", "code": "0", "last": `["end","end"]`,
	} {
		if got := seen.Get(path).Raw; got != want {
			t.Errorf("%s is %s; want %s", path, got, want)
		}
	}
	for _, got := range seen.Get("texts").Array() {
		if got.Str != text {
			t.Errorf("a text has %d bytes, want %d", len(got.Str), len(text))
		}
	}
}
