//go:build unix

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/config"
	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func TestToolEnvironment(t *testing.T) {
	ours := map[string]string{"PATH": "/bin", "HOME": "/root", "LANG": "", "OPENAI_API_KEY": "hunter2", "SLUICE_CONFIG": "x"}
	lookup := func(name string) (string, bool) { value, set := ours[name]; return value, set }
	got := toolEnvironment(lookup, map[string]string{"TOKEN": "a=b", "HOME": "/else"})
	slices.Sort(got)
	if want := []string{"HOME=/else", "LANG=", "PATH=/bin", "TOKEN=a=b"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestFindCommand(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "server"), "#!/bin/sh\n")
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ command, dir, want, fault string }{
		"on PATH":             {"sh", dir, "/sh", ""},
		"a path":              {filepath.Join(dir, "server"), "", "/server", ""},
		"in its own folder":   {"./server", dir, "/server", ""},
		"not on PATH":         {"no-such-command", dir, "", `"no-such-command" is not on PATH`},
		"not in PATH's place": {"server", dir, "", `"server" is not on PATH`},
		"not there":           {"./nothing", dir, "", "is not there"},
		"no program":          {"./text", dir, "", "is not executable"},
	} {
		path, err := findCommand(c.command, c.dir)
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %v", name, err)
		}
		if err == nil && (!strings.HasSuffix(path, c.want) || !filepath.IsAbs(path)) {
			t.Errorf("%s: got %s", name, path)
		}
	}
}

func TestServerRedactor(t *testing.T) {
	clean := serverRedactor(config.MCPServer{
		Env:     map[string]string{"KEY": "abcd", "DEBUG": "true", "PLACE": "a long value", "LONGER": "a long value and more"},
		Headers: map[string]string{"Authorization": "Bearer s3cr\"et"},
		Args:    []string{"--token", "argument-token", "--url", "postgres://me:pass-word@host/db"},
		URL:     "https://host/mcp?api_key=querykey&name=harmless",
	})
	for text, want := range map[string]string{
		"abcd, true":                        "[redacted], true",
		"a long value and more":             "[redacted]",
		"a+long+value":                      "[redacted]",
		"Bearer s3cr\"et":                   "[redacted]",
		`token s3cr\"et`:                    "token [redacted]",
		"argument-token pass-word":          "[redacted] [redacted]",
		"https://host/mcp?api_key=querykey": "https://host/mcp?api_key=[redacted]",
		"harmless":                          "harmless",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// greeter is an MCP server in a shell: one tool, and a child that must not outlive it.
const greeter = `#!/bin/sh
trap '' TERM
echo "starting with $TOKEN" >&2
sleep 1000 &
echo $! > "$0.pid"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"g","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"greet","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}' ;;
    *'"die"'*) echo "killed by $TOKEN" >&2; exit 9 ;;
    *) result='{"content":[{"type":"text","text":"hello"}]}' ;;
  esac
  [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
`

func TestToolProcess(t *testing.T) {
	script := filepath.Join(t.TempDir(), "greeter")
	write(t, script, greeter)
	server := config.MCPServer{Command: "./greeter", Cwd: filepath.Dir(script), Timeout: time.Minute, Env: map[string]string{"TOKEN": "hunter2hunter2"}}
	r := newRealTools(t, map[string]config.MCPServer{"g": server})
	r.want(wire.ToolOK, "g/greet", "{}", "hello")
	first := pidIn(t, script+".pid")
	r.want(wire.ToolError, "g/die", "{}", "exit status 9", "killed by [redacted]")
	testkit.Until(t, "the dead server's child is gone", func() bool { return !runs(first) })
	r.want(wire.ToolOK, "g/greet", "{}", "hello")
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if second := pidIn(t, script+".pid"); second == first || runs(second) {
		t.Errorf("the processes %d and %d", first, second)
	}
	if text := r.log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, `line="starting with [redacted]"`) {
		t.Errorf("the log is %s", text)
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestToolCommandIsMissing(t *testing.T) {
	servers := map[string]config.MCPServer{
		"none": {Command: "no-such-command", Timeout: time.Second}, "place": {Command: "sh", Cwd: "/no/such/folder", Timeout: time.Second},
	}
	want := map[string]string{"none": "is not on PATH; install it, or look at mcp_servers.none.command", "place": "its working directory /no/such/folder is no folder"}
	r := newToolsOf(t, servers)
	_, warnings := r.List(t.Context(), []string{"*"}, nil)
	for i, name := range slices.Sorted(maps.Keys(servers)) {
		if len(warnings) != 2 || !strings.Contains(warnings[i], want[name]) {
			t.Errorf("%s: got %q", name, warnings)
		}
	}
}
