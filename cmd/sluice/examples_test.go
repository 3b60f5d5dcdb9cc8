package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The examples are what people copy, so they are run as they stand.
func TestExamples(t *testing.T) {
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{"python3", "chat.py"}, {"node", "chat.mjs"}} {
		t.Run(c[1], func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c[0])
			if err != nil {
				t.Fatalf("%s is missing: make test installs it", c[0])
			}
			command := exec.Command(program, filepath.Join("..", "..", "examples", c[1]), "What is a buffer?")
			command.Env = append(os.Environ(), "SLUICE_BINARY="+binary)
			var stderr strings.Builder
			command.Stderr = &stderr
			answer, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if words := len(strings.Fields(string(answer))); words < 3 || !strings.Contains(stderr.String(), "dropped") {
				t.Errorf("answer %q, stderr %q", answer, stderr.String())
			}
		})
	}
}
