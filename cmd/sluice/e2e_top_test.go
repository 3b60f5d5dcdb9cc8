//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/host"
)

// TestTopShowsARealEngine: what the engine's own debug server tells is found, understood and shown.
func TestTopShowsARealEngine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	settings := fmt.Sprintf("app: {data_dir: %q}\ndebug: {addr: '127.0.0.1:0', token: swordfish}\n", filepath.Join(folder, "data"))
	e, _ := attached(t, settings, host.Options{Dir: folder})
	e.Chat("one", "hi")
	e.Result("one")
	top := func() (status int, stdout, stderr string) {
		var out, log strings.Builder
		status = run(t.Context(), []string{"top", "--config", filepath.Join(folder, "config.yaml")}, strings.NewReader(""), &out, &log)
		return status, out.String(), log.String()
	}
	status, stdout, stderr := top()
	if status != exitDone || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	for _, word := range []string{"sluice " + version, fmt.Sprintf("pid %d ", e.PID()), " of 64 MiB", "\ntransform ", "\nSTREAMS"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("%q is missing in\n%s", word, stdout)
		}
	}
	e.CloseStdin()
	wantExit(t, e, 0)
	if status, stdout, stderr = top(); status != exitFailed || stdout != "" || !strings.Contains(stderr, "no engine can be watched") {
		t.Errorf("after the end: status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}
