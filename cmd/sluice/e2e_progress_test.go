//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// stagesTold are what a chat's progress told, each told once.
func stagesTold(e *host.Engine, id string) map[string]bool {
	told := map[string]bool{}
	for _, m := range e.Events(id) {
		if m.Get("event").Str == "progress" {
			told[m.Get("stage").Str] = true
		}
	}
	return told
}

// TestRealProgress: a host that wants to know is told what the first chat waits for.
func TestRealProgress(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		t.Run(fmt.Sprint(wanted), func(t *testing.T) {
			t.Parallel()
			tools := newToolServer(t)
			r := newReal(t)
			e := r.start(quick, one+"agents: [{name: plain, tools: []}, {name: tools, tools: ['t/note']}]\nmcp_servers:\n"+tools.config("t", "", ""), host.Options{})
			extensions := []string{}
			if wanted {
				extensions = append(extensions, "progress")
			}
			e.Call("i", "initialize", map[string]any{"protocol_versions": []int{1}, "capabilities": map[string]any{"extensions": extensions}})
			// While the servers of tools are awaited, the model's may start unnoticed.
			e.Send("plain", "chat", chatOf(strings.Repeat("It is a long text. ", 200), nil))
			e.Result("plain")
			e.Send("tools", "chat", chatOf("/call", map[string]any{"agent": "tools"}))
			e.Result("tools")
			for stage, id := range map[string]string{"server_start": "plain", "prompt": "plain", "tool": "tools"} {
				if told := stagesTold(e, id); told[stage] != wanted {
					t.Errorf("%s: %s was told: %v; all that was: %v", id, stage, told[stage], told)
				}
			}
			wantEnd(t, e, tools)
		})
	}
}

// TestProgressOfALoadingModel: the model of the test above may be loaded before anybody looks.
func TestProgressOfALoadingModel(t *testing.T) {
	t.Parallel()
	server := fakellama.Start(t, fakellama.Options{Loading: true})
	e := spawn(t, "llama_server: {url: '"+server.URL+"'}\n", host.Options{})
	e.Call("i", "initialize", map[string]any{"protocol_versions": []int{1}, "capabilities": map[string]any{"extensions": []string{"progress"}}})
	e.Chat("c", "n=3")
	e.Wait("model_load", func(m host.Message) bool {
		return m.Get("event").Str == "progress" && m.Get("id").Str == "c" && m.Get("stage").Str == "model_load"
	})
	server.Loaded()
	wantWhole(t, e, "c", fakellama.Text("n=3"))
}

// TestSecretsAndCleanOutput: whatever servers do with what they were given, no line of the engine holds
// it, and its stdout is protocol alone, which the host checks of every line.
func TestSecretsAndCleanOutput(t *testing.T) {
	const header, query = "hush-7c1f66aa", "hush-0b91d3e4"
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("refused: %v %v", r.Header, r.URL), http.StatusUnauthorized)
	}))
	t.Cleanup(web.Close)
	tools := newToolServer(t)
	servers := tools.config("t", habitTelling, "requires_approval: ['t/big']") +
		fmt.Sprintf("  web: {url: '%s/mcp?api_key=%s', headers: {Authorization: 'Bearer %s', X-Token: %s}}\n", web.URL, query, header, header) +
		fmt.Sprintf("  gone: {command: no-such-command, env: {TOKEN: %s}, args: ['--token', %s]}\n", toolSecret, query)
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			config := "log: {level: debug, format: " + format + "}\n" + toolAgent(`"*"`) + "mcp_servers:\n" + servers
			e, _ := attached(t, config, host.Options{})
			for i, input := range []string{"n=1", `call=t__tell args={"text":"x"} again=9`, noteCall, bigCall, `call=t__note args=nonsense again=9`} {
				id := numbered("c", i)
				e.Chat(id, input)
				e.Result(id)
			}
			if warnings := e.Result("c0").Get("warnings").Raw; !strings.Contains(warnings, "401") || !strings.Contains(warnings, "no-such-command") {
				t.Errorf("the warnings are %s", warnings)
			}
			e.CloseStdin()
			wantExit(t, e, 0)
			for _, secret := range []string{toolSecret, header, query} {
				wantNoSecret(t, e, secret)
			}
			if !strings.Contains(e.Log(), "my token is") {
				t.Error("what the tool server prints is not in the log")
			}
		})
	}
}
