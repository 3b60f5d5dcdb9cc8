package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/bench/roles"
)

// TestMain lets the test binary play the load server and the limit.
func TestMain(m *testing.M) {
	if status, played := roles.Run(os.Args[1:]); played {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// build builds the peers, and the engine unless $SLUICE names one, and returns the arguments that
// name them.
func build(t *testing.T) (folder string, arguments []string) {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	folder = t.TempDir()
	goBuild(t, "../..", folder, "./peers/gochat", "./peers/benthos", "./peers/sinks")
	engine := os.Getenv("SLUICE")
	if engine == "" {
		goBuild(t, "../../..", folder, "./cmd/sluice")
		engine = filepath.Join(folder, "sluice")
	}
	return folder, []string{"-engine", engine, "-programs", folder, "-tokens", "3000", "-small-tokens", "700",
		"-slow-tokens", "3000", "-stall", "20ms", "-lines", "5000"}
}

func goBuild(t *testing.T, module, folder string, packages ...string) {
	t.Helper()
	command := exec.Command("go", append([]string{"build", "-o", folder + "/"}, packages...)...)
	command.Dir = module
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

func writeReadme(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const marked = "before\n" + beginMarker + "old\n" + endMarker + "behind\n"

func TestRunsFillTheReadmeOrPrintWhatTheyHave(t *testing.T) {
	folder, arguments := build(t)
	readme := writeReadme(t, marked)
	t.Run("a whole run", func(t *testing.T) {
		checkWholeRun(t, append(arguments, "-rounds", "2", "-readme", readme), readme)
	})
	t.Run("a peer that fails", func(t *testing.T) {
		checkFailingPeer(t, folder, append(arguments, "-rounds", "1", "-workload", "W6,W1"))
	})
}

func checkWholeRun(t *testing.T, arguments []string, readme string) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), arguments, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	text := readFile(t, readme)
	if !strings.Contains(text, stdout.String()) || strings.Contains(text, "old") {
		t.Errorf("the README is\n%s", text)
	}
	for _, row := range []string{limitName, mergingName, droppingName, "| asyncio, bounded queue |", "| Node, one write a batch |",
		"| Benthos, batches |", "| go-streams", "| zerolog `diode` |", "Medians of 2 interleaved rounds on"} {
		if !strings.Contains(text, row) {
			t.Errorf("%q is missing in\n%s", row, text)
		}
	}
}

// checkFailingPeer puts a peer that fails in the place of one, so that W1 ends behind W6.
func checkFailingPeer(t *testing.T, folder string, arguments []string) {
	gochat := filepath.Join(folder, "gochat")
	if err := os.Remove(gochat); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gochat, []byte("#!/bin/sh\necho out of order >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	readme := writeReadme(t, marked)
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), append(arguments, "-readme", readme), &stdout, &stderr)
	if status != 1 || !strings.Contains(stderr.String(), "out of order") || readFile(t, readme) != marked {
		t.Errorf("status %d, stderr %s", status, &stderr)
	}
	if text := stdout.String(); !strings.Contains(text, "(W6)") || !strings.Contains(text, "Ended early, in round 1 of 1") {
		t.Errorf("stdout is\n%s", text)
	}
}

func TestWrongCallsExitWithTwo(t *testing.T) {
	unmarked := writeReadme(t, "text\n"+beginMarker)
	for _, arguments := range [][]string{
		{"-nothing"}, {"more"}, {"-rounds", "0"}, {"-workload", "W9"}, {"-readme", unmarked}, {"-readme", unmarked + "x"},
	} {
		if status := run(t.Context(), arguments, io.Discard, io.Discard); status != 2 {
			t.Errorf("run(%q) = %d", arguments, status)
		}
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	empty := t.TempDir()
	for name, arguments := range map[string][]string{
		"no-such-engine":               {"-engine", "no-such-engine"},
		filepath.Join(empty, "gochat"): {"-engine", os.Args[0], "-programs", empty},
	} {
		var stderr bytes.Buffer
		if status := run(t.Context(), arguments, io.Discard, &stderr); status != 1 || !strings.Contains(stderr.String(), name) {
			t.Errorf("run(%q) = %d: %s", arguments, status, &stderr)
		}
	}
}

func TestMissingInterpretersLeaveTheirPeersOut(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"gochat", "benthos", "sinks"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	found, missing, err := findPeers(folder, t.TempDir())
	if err != nil || fmt.Sprint(missing) != "[node python3]" {
		t.Errorf("missing are %q: %v", missing, err)
	}
	for _, p := range found {
		if !strings.HasPrefix(p.command[0], folder) {
			t.Errorf("%s was found as %q", p.name, p.command)
		}
	}
	b := &bench{missing: missing}
	b.addThroughput(limitName, outcome{eventsPerSecond: 1e6}, 1e6)
	if text := b.markdown("Medians"); !strings.Contains(text, "Not measured, since it was missing: `python3`.") {
		t.Errorf("the text is\n%s", text)
	}
}

func TestAnInterruptedRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if status := run(ctx, []string{"-engine", os.Args[0]}, io.Discard, io.Discard); status != 1 {
		t.Errorf("status %d", status)
	}
}
