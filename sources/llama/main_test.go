package llama

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/process"
)

// TestMain also is the guardian, the engine and the llama-server of the tests, which run this binary
// once more. os.Exit would take a second under the race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guardian":
			syscall.Exit(process.RunGuardian(os.Stdin))
		case "engine":
			syscall.Exit(runEngine(os.Args[2:]))
		case "llama-server":
			syscall.Exit(runFake(os.Args[2], os.Args[3:]))
		}
	}
	goleak.VerifyTestMain(m)
}
