package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGuardSaysWhatToMend(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "baseline.json")
	if err := os.WriteFile(other, []byte(`{"format":"sluice bench guard","version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{
		"a baseline of version 99, this program compares version 1: write it anew with --guard-update": {"--guard", other},
		"write one with --guard-update":        {"--guard", other + ".missing"},
		"--reader means nothing with --guard":  {"--guard", other, "--reader", "fast"},
		"--guard-update needs --guard":         {"--guard-update"},
		"no/such/file can't be written":        {"--guard", other, "--guard-update", "--guard-out", "no/such/file"},
		"give 6 or more":                       {"--guard", other, "--guard-rounds", "-1"},
		"is no baseline of the guard: name an": {"--guard", os.DevNull},
	} {
		var stdout, stderr strings.Builder
		status := run(t.Context(), append([]string{"bench"}, arguments...), strings.NewReader(""), &stdout, &stderr)
		message := stderr.String()
		if status != exitUsage || !strings.Contains(message, want) || strings.Count(message, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%q: status %d, stdout %q, stderr %q", arguments, status, stdout.String(), message)
		}
	}
}

func TestBenchPeerRepeatsItsInput(t *testing.T) {
	t.Parallel()
	var stdout, stderr strings.Builder
	if status := run(t.Context(), []string{benchPeerCommand, "echo"}, strings.NewReader("a line\n"), &stdout, &stderr); status != exitDone || stdout.String() != "a line\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout.String(), stderr.String())
	}
}
