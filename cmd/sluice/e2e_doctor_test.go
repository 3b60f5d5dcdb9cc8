//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// finding is what doctor says of one check.
func finding(report gjson.Result, id string) gjson.Result {
	return report.Get(`checks.#(id=="` + id + `")`)
}

// want holds a finding to its status and words.
func wantFinding(t *testing.T, report gjson.Result, id, status string, words ...string) {
	t.Helper()
	found := finding(report, id)
	text := found.Get("message").Str + "\n" + found.Get("hint").Str
	if found.Get("status").Str != status || (found.Get("hint").Str == "") != (status == "ok") {
		t.Errorf("%s is %s; want %s", id, found.Raw, status)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s doesn't say %q: %s", id, word, found.Raw)
		}
	}
}

// wantAllOK expects nothing to be found but what other tests leave behind for a moment: engines of theirs
// are killed, and orphans are looked for on the whole machine.
func wantAllOK(t *testing.T, report gjson.Result) {
	t.Helper()
	report.Get("checks").ForEach(func(_, check gjson.Result) bool {
		if check.Get("status").Str != "ok" && check.Get("id").Str != "orphans" {
			t.Errorf("doctor says %s", check.Raw)
		}
		return true
	})
	if report.Get("status").Str == "fail" {
		t.Errorf("doctor says %s", report.Raw)
	}
}

// TestRealDoctor: everything is there; it is told, and nothing of it is left running.
func TestRealDoctor(t *testing.T) {
	t.Parallel()
	r, tools := newReal(t), newToolServer(t)
	config := one + "mcp_servers:\n" + tools.config("fs", "", "") + "app: {data_dir: data}\n"
	e := r.start(quick, config, host.Options{})
	report := e.Call("d", "doctor", nil).Get("result")
	wantAllOK(t, report)
	wantFinding(t, report, "configuration", "ok", "config.yaml", "1 model, 1 agent")
	wantFinding(t, report, "llama_server", "ok", r.path("llama-server"), "version")
	wantFinding(t, report, "model:default", "ok", "2 slots of 8192 tokens")
	wantFinding(t, report, "data_dir", "ok", "data")
	wantFinding(t, report, "mcp:fs", "ok", "tools")
	wantFinding(t, report, "stdout", "ok", "a pipe")
	wantFinding(t, report, "keychain", "ok")
	wantFinding(t, report, "clock", "ok")
	tools.wantGone()
	if _, err := os.Stat(r.path("data")); err == nil || len(r.pids()) != 0 {
		t.Errorf("doctor changed something: %v, servers %v", err, r.pids())
	}
	e.Chat("c", "What is a pipe?")
	wantText(t, e, "c")
	after := e.Call("e", "doctor", map[string]any{"agent": "assistant"}).Get("result")
	wantFinding(t, after, "data_dir", "ok", "data")
	wantFinding(t, after, "model:default", "ok")
	wantAlive(t, e)
	if len(r.pids()) != 1 {
		t.Errorf("servers were started: %v", r.pids())
	}
	stdout, _, status := r.people("doctor")
	if status != exitDone || strings.Contains(stdout, "In all: fail") || strings.ContainsRune(stdout, '\x1b') {
		t.Errorf("status %d, people see %s", status, stdout)
	}
	e.CloseStdin()
	wantExit(t, e, 0)
	tools.wantGone()
}

// TestDoctorOfWhatHangs: a llama-server and tool servers that never answer and can't be asked to end. The
// report comes all the same, and nothing is left.
func TestDoctorOfWhatHangs(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	write(t, r.path("busy"), "trap '' TERM INT HUP\necho $$ >> "+r.path("hung")+"\nwhile sleep 1; do :; done\n")
	r.script("#!/bin/sh\nsh DIR/busy &\nsh DIR/busy\n")
	servers := "mcp_servers:\n"
	for _, name := range []string{"one", "two", "three"} {
		servers += "  " + name + ": {command: sh, args: [" + r.path("busy") + "]}\n"
	}
	e := r.start(quick, one+servers, host.Options{})
	report := e.Call("d", "doctor", nil).Get("result")
	wantHangs := func(report gjson.Result) {
		t.Helper()
		if report.Get("status").Str != "fail" {
			t.Errorf("doctor says %s", report.Raw)
		}
		wantFinding(t, report, "llama_server", "fail", "did not end in time")
		wantFinding(t, report, "model:default", "warn", "GPUs", "doesn't know")
		for _, name := range []string{"one", "two", "three"} {
			wantFinding(t, report, "mcp:"+name, "fail", "did not answer")
		}
		wantFinding(t, report, "data_dir", "ok")
	}
	wantHangs(report)
	text, _ := os.ReadFile(r.path("hung"))
	if len(strings.Fields(string(text))) < 5 {
		t.Errorf("these were started: %s", text)
	}
	testkit.Until(t, "no process is left", func() bool { return len(r.left()) == 0 })
	wantAlive(t, e)
	stdout, stderr, status := r.people("doctor", "--json")
	if status != exitFailed || stderr != "" || strings.Count(stdout, "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	wantHangs(gjson.Parse(stdout))
	testkit.Until(t, "no process is left", func() bool { return len(r.left()) == 0 })
}

// TestDoctorWithoutConfiguration: the method tells, a plan is refused; so do the commands.
func TestDoctorWithoutConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := host.Start(t, host.Options{Path: built(t), Args: []string{"serve-stdio"}, Dir: dir})
	report := e.Call("d", "doctor", nil).Get("result")
	wantFinding(t, report, "configuration", "fail", "there is no configuration", "config.yaml", "--demo")
	if report.Get("status").Str != "fail" {
		t.Errorf("doctor says %s", report.Raw)
	}
	e.Send("p", "plan", nil)
	e.Error("p", "config_missing", "config.yaml")
	e.CloseStdin()
	wantExit(t, e, 0)
	if stdout, stderr, status := runIn(t, dir, "doctor"); status != exitFailed || !strings.Contains(stdout, "there is no configuration") || stderr != "" {
		t.Errorf("status %d, people see %q, %q", status, stdout, stderr)
	}
	if stdout, stderr, status := runIn(t, dir, "plan"); status != exitUsage || stdout != "" || !strings.Contains(stderr, "there is no configuration") {
		t.Errorf("status %d, people see %q, %q", status, stdout, stderr)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("doctor left %v", left)
	}
}

// TestDoctorOfABrokenConfiguration looks at the rest all the same, and tells no secret.
func TestDoctorOfABrokenConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), "llama_server: {api_key: swordfish}\nmodels: 7\n")
	stdout, stderr, status := runIn(t, dir, "doctor", "--json")
	report := gjson.Parse(stdout)
	if status != exitFailed || stderr != "" || strings.Contains(stdout, "swordfish") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	wantFinding(t, report, "configuration", "fail", "config.yaml:2", "models")
	wantFinding(t, report, "clock", "ok")
	if !finding(report, "llama_server").Exists() || !finding(report, "data_dir").Exists() {
		t.Errorf("got %s", stdout)
	}
	if _, stderr, status := runIn(t, dir, "plan"); status != exitUsage || !strings.Contains(stderr, "config.yaml:2") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// TestDoctorOfAnAttachedServer pings it; there is nothing to plan.
func TestDoctorOfAnAttachedServer(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "agents: [{name: a}, {name: b}]\n", host.Options{})
	wantFinding(t, e.Call("d", "doctor", nil).Get("result"), "llama_server", "ok", server.URL, "answers")
	e.Send("p", "plan", nil)
	e.Error("p", "invalid_request", "nothing to plan", "models[].path")
	for _, method := range []string{"plan", "doctor"} {
		e.Send("x"+method, method, map[string]any{"agent": "nobody"})
		e.Error("x"+method, "invalid_request", "a, b")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), "llama_server: {url: 'http://127.0.0.1:"+freePort(t)+"', api_key: swordfish}\n")
	stdout, _, status := runIn(t, dir, "doctor", "--json")
	wantFinding(t, gjson.Parse(stdout), "llama_server", "fail", "doesn't answer", "llama_server.url")
	if _, stderr, planned := runIn(t, dir, "plan"); status != exitFailed || planned != exitFailed || !strings.Contains(stderr, "nothing to plan") || strings.Contains(stdout+stderr, "swordfish") {
		t.Errorf("status %d and %d, %s%s", status, planned, stdout, stderr)
	}
	for _, command := range []string{"plan", "doctor"} {
		if _, stderr, status := runIn(t, dir, command, "--agent", "nobody"); status != exitFailed || !strings.Contains(stderr, "assistant") {
			t.Errorf("%s: status %d, %q", command, status, stderr)
		}
	}
	if stdout, _, status := runIn(t, dir, "doctor", "--demo"); !strings.Contains(stdout, "the embedded model answers") || status != exitDone {
		t.Errorf("status %d, people see %s", status, stdout)
	}
}
