package llama

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/process"
)

// programs are what the test binary also is, by its first argument: the guardian, and for real
// processes the engine and the llama-server of the tests.
var programs = map[string]func(args []string) int{
	"guardian": func([]string) int { return process.RunGuardian(os.Stdin) },
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if program := programs[os.Args[1]]; program != nil {
			syscall.Exit(program(os.Args[2:])) // os.Exit takes a second under the race detector
		}
	}
	goleak.VerifyTestMain(m)
}
