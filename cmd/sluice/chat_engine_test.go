//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scriptedEngine is a program that is started in place of this one.
func scriptedEngine(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEngineProcess(t *testing.T) {
	tests := []struct {
		name, script string
		status       int
		message      string
	}{
		{"dies at once", `echo "no \033[1mluck" >&2; exit 3`, exitFailed, "the engine ended unexpectedly (exit status 3); its last lines:\n  no  [1mluck"},
		{"is killed", `read line; kill -9 $$`, exitFailed, "the engine ended unexpectedly (signal: killed)"},
		{"refuses its configuration", `echo "sluice: c.yaml:1: foo" >&2; exit 2`, exitUsage, "c.yaml:1: foo"},
		{"closes its output and lives until its input ends", `read line; exec >&-; cat >/dev/null; echo bye >&2; exit 1`, exitFailed, "the engine ended unexpectedly (exit status 1); its last lines:\n  bye"},
		{"gets its arguments", `echo "$@" >&2; exit 2`, exitUsage, "serve-stdio --config=a b.yaml --demo"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			flags := sourceFlags{path: "a b.yaml", demo: true}
			e, err := startEngine(engineCommand{executable: scriptedEngine(t, test.script), args: flags.arguments()})
			if err != nil {
				t.Fatal(err)
			}
			var out, log lockedBuffer
			screen := newScreen(streams{out: &out, err: &log}, &chatFlags{})
			h := chatHost{engine: e, questions: question("hi"), screen: screen, approvals: newApprovals(nil, screen.console)}
			checkFailure(t, h.run(t.Context(), nil), test.status, test.message)
			if out.String() != "" || log.String() != "" {
				t.Errorf("stdout %q, stderr %q", out.String(), log.String())
			}
		})
	}
}

func TestEngineLogIsBoundedAndSeen(t *testing.T) {
	var seen []string // by one goroutine, which has ended when wait returns
	e, err := startEngine(engineCommand{
		executable: scriptedEngine(t, `i=0; while [ $i -lt 5000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 4`),
		log:        func(line string) { seen = append(seen, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = e.stdin.Close()
	end := e.wait()
	if len(seen) != 5000 || len(end.log) != keptLogLines || end.log[keptLogLines-1] != "line 4999" || end.status != 4 {
		t.Errorf("%d lines were seen and kept are %q, status %d", len(seen), end.log, end.status)
	}
}

func TestEngineThatDoesNotStart(t *testing.T) {
	_, err := startEngine(engineCommand{executable: filepath.Join(t.TempDir(), "nothing")})
	if err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("the error is %v", err)
	}
}
