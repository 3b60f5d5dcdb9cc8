package tools

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// scriptArgument makes this binary a scripted server: the next argument names the script.
const scriptArgument = "scripted-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == scriptArgument {
		syscall.Exit(newScript(os.Stdin, os.Stdout, os.Stderr).run(os.Args[2])) // os.Exit takes a second under the race detector
	}
	goleak.VerifyTestMain(m)
}
